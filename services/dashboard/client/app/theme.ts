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

/** Whether something needs attention. */
export type Health = 'ok' | 'warning' | 'wrong'

/** The colour roles (docs/dashboard/design.md). A word always says the same. */
export const healthColors: Readonly<Record<Health, string>> = { ok: 'green', warning: 'yellow', wrong: 'red' }

/** Of unsafe verdicts, the worst first. */
export const severityColors = { critical: 'red.9', high: 'orange.6', medium: 'yellow.6' } as const

/** The library's button has only an icon. */
const closeButtonProps = { 'aria-label': 'Close' }

export const theme = createTheme({
  primaryColor: 'cyan',
  // White on it has a contrast of 5.6 in both schemes; autoContrast optimises for the light one.
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  // Bundled (app.css), so that nothing is fetched from elsewhere; scripts beyond Latin get the system font.
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace',
  components: {
    Modal: Modal.extend({ defaultProps: { closeButtonProps } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps } }),
    // Green and yellow titles on their own tint have a contrast of about 3; the tint alone carries the
    // colour.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    // Unchanged case, never truncated: a status without its end says nothing.
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 600, miw: 'max-content' } }),
  },
  headings: { sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } } },
})

const pale = ['orange', 'yellow', 'green', 'cyan'] as const

/**
 * Small text needs a contrast of 4.5. The library's dimmed grey and the red of its errors have 3.3 on white
 * and 4.0 on dark grey; the
 * darkest shade of these colours has 2.7 to 3.9 on its own tint, as in badges; cyan has 4.1 on hovered
 * selections.
 */
export const readableColours: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-error': colors.red[9],
    // An empty field's placeholder says what empty means.
    '--mantine-color-placeholder': colors.gray[7],
    ...Object.fromEntries(
      pale.map((name) => [`--mantine-color-${name}-light-color`, darken(colors[name][9], 0.35)]),
    ),
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-error': colors.red[4],
    '--mantine-color-placeholder': colors.dark[1],
  },
})
