import { Alert, createTheme, type CSSVariablesResolver } from '@mantine/core'

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
    // Green and yellow titles on their own light ground have a contrast of about 3: the ground alone says the colour.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
  },
  headings: { sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } } },
})

/** The library's grey for lesser text has a contrast of 3.3 on white and 4.0 on its dark grey; 4.5 is what small text needs. */
export const readableGreys: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: { '--mantine-color-dimmed': colors.gray[7] },
  dark: { '--mantine-color-dimmed': colors.dark[1] },
})
