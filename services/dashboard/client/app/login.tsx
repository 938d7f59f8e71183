import { Alert, Button, Center, Divider, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { singleSignOnAddress, useLogin, useLoginWays, type LoginWays } from '../api/session.ts'
import { useTabTitle } from '../parts/page-head.tsx'
import { Loaded } from '../parts/page-states.tsx'
import { useSetTexts, useTexts } from './address.ts'
import { describeSignOnFailure } from './sign-on-failures.ts'

/** Replaces the requested page, which follows after sign-in. */
export function Login() {
  useTabTitle('Log in')
  return <Loaded query={useLoginWays()}>{(ways) => <LoginForms ways={ways} />}</Loaded>
}

function LoginForms({ ways: { password, oidc } }: { ways: LoginWays }) {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Stack>
          <Title order={1}>Sluice</Title>
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
      name: (text) => (text.trim() === '' ? 'Say who you are' : null),
      password: (text) => (text === '' ? 'The password is missing' : null),
    },
  })
  return (
    <form onSubmit={form.onSubmit((values) => login.mutate(values))}>
      <Stack>
        {login.isError ? (
          <Alert color="red" title="Not logged in" role="alert">
            {login.error.message}
          </Alert>
        ) : null}
        <TextInput label="Name" autoComplete="username" autoFocus {...form.getInputProps('name')} />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        <Button type="submit" loading={login.isPending}>
          Log in
        </Button>
      </Stack>
    </form>
  )
}
