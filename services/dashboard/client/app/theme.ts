import {
  Alert,
  Badge,
  createTheme,
  darken,
  Drawer,
  Modal,
  Notification,
  type CSSVariablesResolver,
} from '@mantine/core'

/** The library's has a picture alone. */
const closeButtonProps = { 'aria-label': 'Close' }

export const theme = createTheme({
  primaryColor: 'cyan',
  // White on it has a contrast of 5.6 in both schemes; what autoContrast chooses is chosen for the light one.
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  // The system's own: nothing is fetched from elsewhere.
  fontFamily: 'system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace',
  components: {
    Modal: Modal.extend({ defaultProps: { closeButtonProps } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps } }),
    // Green and yellow titles on their own light ground have a contrast of about 3: the ground alone says the colour.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    // Words as they are, and never cut: a status of which the end is missing says nothing.
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 600, miw: 'max-content' } }),
  },
  headings: { sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } } },
})

const pale = ['orange', 'yellow', 'green', 'cyan'] as const

/**
 * Small text needs a contrast of 4.5. The library's grey for lesser text has 3.3 on white and 4.0 on its dark grey; these
 * colours' darkest shade has 2.7 to 3.9 on its own tint, where badges write, and cyan's 4.1 where what is chosen is under the pointer.
 */
export const readableColours: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    // An empty field says by it what empty means.
    '--mantine-color-placeholder': colors.gray[7],
    ...Object.fromEntries(
      pale.map((name) => [`--mantine-color-${name}-light-color`, darken(colors[name][9], 0.35)]),
    ),
  },
  dark: { '--mantine-color-dimmed': colors.dark[1], '--mantine-color-placeholder': colors.dark[1] },
})
