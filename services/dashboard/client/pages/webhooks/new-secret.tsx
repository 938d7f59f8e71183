import { Code, Spoiler, Tabs } from '@mantine/core'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { verificationSample } from './webhook-texts.ts'

const languages = ['TypeScript', 'Python'] as const

/** A signing secret, and how a receiver uses it. */
export function NewSecret({ secret }: { secret: string }) {
  return (
    <ShownOnce title="Signing secret" secret={secret}>
      <Spoiler maxHeight={0} showLabel="How a receiver checks the signature" hideLabel="Hide">
        <Tabs defaultValue="TypeScript">
          <Tabs.List>
            {languages.map((language) => (
              <Tabs.Tab key={language} value={language}>
                {language}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {languages.map((language) => (
            <Tabs.Panel key={language} value={language} pt="xs">
              <Code block>{verificationSample(language)}</Code>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Spoiler>
    </ShownOnce>
  )
}
