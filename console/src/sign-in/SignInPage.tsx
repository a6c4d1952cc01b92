import { createClient } from 'quarterdeck/client'
import { type FormEvent, useEffect, useState } from 'react'
import { serverUrl } from '../base.ts'
import { Button } from '../parts/Button.tsx'
import { TextField } from '../parts/Field.tsx'
import { rememberToken } from './device-token.ts'
import styles from './SignInPage.module.css'

/** Signs in with the code of the link that the server printed, or with the operator's token, and stays on the page that was asked for. */
export default function SignInPage() {
  const [token, setToken] = useState('')
  const [keep, setKeep] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function signIn(credential: { code: string } | { token: string }): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      const client = createClient({ url: serverUrl, ...('token' in credential ? credential : {}), retries: 1 })
      const signedIn = await client.signIn({ ...('code' in credential ? credential : {}), keep, label: deviceName() })
      await rememberToken(signedIn.token, keep)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the code is used once, when the page opens
  useEffect(() => {
    const code = takeCode()
    if (code !== null) void signIn({ code })
  }, [])

  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (token.trim() !== '' && !isBusy) void signIn({ token: token.trim() })
  }
  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={onSubmit}>
        <h1>Sign in</h1>
        <p className={styles.text}>
          Open the link that the server printed when it started, or get a new one: <code>npx quarterdeck console</code>
        </p>
        <TextField
          label="Or paste the operator’s token"
          type="password"
          autoComplete="off"
          value={token}
          problem={problem}
          onChange={(event) => setToken(event.target.value)}
        />
        <label className={styles.keep}>
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
          Stay signed in on this device
        </label>
        <Button kind="primary" type="submit" isBusy={isBusy} disabled={token.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  )
}

/** The code leaves the address at once, so that it stays neither in the history nor on the screen. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code !== null) history.replaceState(history.state, '', location.pathname + location.search)
  return code
}

/** `Chrome on macOS`, for the list of devices. */
function deviceName(): string {
  const agent = navigator.userAgent
  const browser = [
    ['Edg', 'Edge'],
    ['Firefox', 'Firefox'],
    ['Chrome', 'Chrome'],
    ['Safari', 'Safari'],
  ].find(([mark = '']) => agent.includes(mark))?.[1]
  const system = [
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Android', 'Android'],
    ['Mac', 'macOS'],
    ['Windows', 'Windows'],
    ['Linux', 'Linux'],
  ].find(([mark = '']) => agent.includes(mark))?.[1]
  return `${browser ?? 'A browser'}${system === undefined ? '' : ` on ${system}`}`
}
