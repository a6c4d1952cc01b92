import { ClientError } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { codeIn } from './code-in-address.ts'
import { deviceName } from './device-name.ts'
import { signInProblem } from './SignInPage.tsx'

test('a code is found behind the # of an address, and nothing else is taken for one', () => {
  expect(codeIn('#code=AB-CD_1')).toEqual({ code: 'AB-CD_1', keep: false })
  expect(codeIn('#code=AB&keep')).toEqual({ code: 'AB', keep: true })
  expect(codeIn('')).toBeNull()
  expect(codeIn('#main')).toBeNull()
})

test('a browser is called by its own name, although all of them claim to be others', () => {
  const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)'

  expect(deviceName(`${mac} Chrome/150.0.0.0 Safari/537.36`)).toBe('Chrome on macOS')
  expect(deviceName(`${mac} Chrome/150.0.0.0 Safari/537.36 Edg/150.0`)).toBe('Edge on macOS')
  expect(deviceName(`${mac} Version/26.0 Safari/605.1.15`)).toBe('Safari on macOS')
  expect(deviceName('Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) CriOS/150 Safari/604.1')).toBe(
    'Chrome on iPhone',
  )
  expect(deviceName('Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0')).toBe('Firefox on Linux')
  expect(deviceName('curl/8')).toBe('A browser')
})

test('each way to fail at signing in says the one thing to do', () => {
  const of = (code: string, status = 401, problem = {}) =>
    signInProblem(new ClientError(code, `server: ${code}`, { status, problem }))

  expect(of('code_invalid')).toMatchObject({
    text: expect.stringContaining('Press Enter in the terminal of the server'),
    canRetry: false,
  })
  expect(of('unauthorized')).toMatchObject({ title: 'The server does not know this token' })
  expect(signInProblem(new ClientError('unauthorized', 'It was removed.', { status: 401 }), false)).toMatchObject({
    title: 'You are not signed in',
    text: 'It was removed.',
  })
  expect(of('unreachable')).toMatchObject({ title: 'The server does not answer', canRetry: true })
  expect(of('passkey_required', 403, { passkey: null })).toMatchObject({
    title: 'Signing in needs a passkey',
    text: 'server: passkey_required',
  })
  expect(of('rate_limited', 429)).toMatchObject({ text: 'server: rate_limited', canRetry: true })
  expect(signInProblem('odd')).toMatchObject({ text: 'odd' })
})
