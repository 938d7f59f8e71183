import {
  Alert,
  Button,
  Center,
  Divider,
  Group,
  Paper,
  PasswordInput,
  Stack,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { singleSignOnAddress, useLogin, useLoginWays, type LoginWays } from '../api/session.ts'
import icon from '../icon.svg'
import { useTabTitle } from '../parts/page-head.tsx'
import { Loaded } from '../parts/page-states.tsx'
import { useSetTexts, useTexts } from './address.ts'

/** Replaces the requested page, which follows after sign-in. */
export function Login() {
  useTabTitle('Sign in')
  return <Loaded query={useLoginWays()}>{(ways) => <LoginForms ways={ways} />}</Loaded>
}

function LoginForms({ ways: { password, oidc } }: { ways: LoginWays }) {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Stack>
          <Group gap="xs">
            <img src={icon} width={28} height={28} alt="" />
            <Title order={1}>Sluice</Title>
          </Group>
          {oidc === null ? null : (
            <Button component="a" href={singleSignOnAddress(window.location)}>
              Sign in with {oidc.label}
            </Button>
          )}
          {oidc !== null && password ? <Divider label="or" /> : null}
          <SignOnFailure />
          {password ? <PasswordLogin /> : null}
        </Stack>
      </Paper>
    </Center>
  )
}

/** The error of a failed single sign-on. Shown once, so that it does not reappear after a later sign-out. */
function SignOnFailure() {
  const { sign_in_error: given } = useTexts()
  const [code] = useState(given)
  const setTexts = useSetTexts()
  useEffect(() => {
    if (given !== undefined) setTexts({ sign_in_error: undefined }, { replaces: true })
  }, [given, setTexts])
  return code === undefined ? null : (
    <Alert color="red" title="Single sign-on failed" role="alert">
      {describeSignOnFailure(code)}
    </Alert>
  )
}

function PasswordLogin() {
  const login = useLogin()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      name: (text) => (text.trim() === '' ? 'Enter your name' : null),
      password: (text) => (text === '' ? 'Enter your password' : null),
    },
  })
  return (
    <form onSubmit={form.onSubmit((values) => login.mutate(values))}>
      <Stack>
        {login.isError ? (
          <Alert color="red" title="Sign-in failed" role="alert">
            {login.error.message}
          </Alert>
        ) : null}
        <TextInput label="Name" autoComplete="username" autoFocus {...form.getInputProps('name')} />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        <Button type="submit" loading={login.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

/** Messages for failed single sign-on. Anybody can craft a link with a code, so only these are shown. */
const failures = new Map(
  Object.entries({
    OIDC_REFUSED: 'The provider did not sign you in. Try again, or contact an administrator.',
    OIDC_NOT_BEGUN: 'Sign-in was started in another browser, or took over ten minutes. Try again.',
    OIDC_CLAIM_MISSING:
      'The provider did not identify you: a scope or claim is missing. Contact an administrator.',
    OIDC_NO_ROLE: 'None of your groups has access. Contact an administrator.',
    OIDC_UNAVAILABLE: 'The provider does not answer. Try again later.',
    LOGIN_TAKEN: 'Your login belongs to another account. Contact an administrator.',
    PERSON_DISABLED: 'Your account is disabled. Contact an administrator.',
    INVALID_INPUT: 'The provider returned an invalid login name. Contact an administrator.',
    API_UNAVAILABLE: 'The API does not answer at the moment. Try again later.',
  }),
)

function describeSignOnFailure(code: string): string {
  return failures.get(code) ?? 'Try again, or contact an administrator.'
}
