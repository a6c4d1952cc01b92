import { ClientError, createClient, type PasskeyChallenge } from 'quarterdeck/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { consolePath, serverUrl } from '../base.ts'
import { errorText } from '../error-text.ts'
import { Announcer } from '../parts/Announcer.tsx'
import { Button } from '../parts/Button.tsx'
import { TextField } from '../parts/Field.tsx'
import { PasskeyIcon, WarningIcon } from '../parts/icons.ts'
import { takeCode } from './code-in-address.ts'
import {
  askForPasskeys,
  type Credential,
  type FailedSignIn,
  signInWith,
  useDeviceToken,
  type WhySignedOut,
} from './device-token.ts'
import { hasPasskeys, PasskeyCancelled, provePasskey } from './passkey.ts'
import styles from './SignInPage.module.css'

/** Somebody with a passkey must confirm. */
interface Asked {
  credential: Credential
  challenge: PasskeyChallenge
}

interface SignInPageProps {
  whySignedOut: WhySignedOut | null
  /** Whom a proxy has signed in, although they may not use the console. */
  stranger: string | null
  /** What was tried before this page was there. */
  failed: FailedSignIn | null
  /** On the page for users. Takes a token that makes no device, such as a user's: true if it did. */
  onToken?: (token: string, keep: boolean) => Promise<boolean>
}

/**
 * Signs in with a passkey, the code of the link that the server printed, or a token, and stays on the page that was asked for. The console
 * takes the operator's token, the page for users anybody's. Only operators have passkeys, so the page for users does not offer them.
 */
export default function SignInPage({ whySignedOut, stranger, failed, onToken }: SignInPageProps) {
  const { isBusy, problem, asked, tried, signIn, confirm, giveUp } = useSignIn(failed, onToken)
  const isTalk = onToken !== undefined
  const { hasPasskey } = useDeviceToken()
  const heading = useRef<HTMLHeadingElement>(null)

  useEffect(() => {
    document.title = 'Sign in · Quarterdeck'
    heading.current?.focus()
    void askForPasskeys()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a code is used once, when it comes
  useEffect(() => {
    function takeAndUse(): void {
      const found = takeCode()
      if (found !== null) void signIn(found)
    }
    takeAndUse()
    // Somebody opens the link in this tab: only what is behind the # changes.
    window.addEventListener('hashchange', takeAndUse)
    return () => window.removeEventListener('hashchange', takeAndUse)
  }, [])

  const isWithCode = isBusy && tried !== null && 'code' in tried && asked === null
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <header className={styles.head}>
          <Mark />
          <div>
            <h1 ref={heading} tabIndex={-1}>
              {isWithCode ? 'Signing in…' : asked === null ? 'Sign in' : 'Confirm that it is you'}
            </h1>
            <p className={styles.note}>
              Quarterdeck at <bdi>{serverUrl.replace(/^https?:\/\//, '')}</bdi>
            </p>
          </div>
        </header>
        {problem !== null && (
          <Trouble problem={problem} onRetry={tried === null || asked !== null ? null : () => void signIn(tried)} />
        )}
        {problem === null && asked === null && !isWithCode && whySignedOut !== null && (
          <SignedOut why={whySignedOut} isTalk={isTalk} />
        )}
        {stranger !== null && (
          <p>
            You are signed in as <bdi>{stranger}</bdi>, but the console is for operators. Whoever runs this server names
            them in its settings.
          </p>
        )}
        {asked !== null ? (
          <Confirm isBusy={isBusy} onConfirm={() => void confirm(asked)} onCancel={giveUp} />
        ) : (
          !isWithCode && (
            <Form
              isBusy={isBusy}
              isTalk={isTalk}
              hasPasskey={hasPasskey === true && hasPasskeys() && !isTalk}
              onSubmit={(credential) => void signIn(credential)}
            />
          )
        )}
      </div>
      <Announcer />
    </main>
  )
}

function useSignIn(failed: FailedSignIn | null, onToken: SignInPageProps['onToken']) {
  const [isBusy, setBusy] = useState(false)
  const challenge = failed === null ? null : challengeIn(failed.error)
  const [problem, setProblem] = useState<SignInProblem | null>(
    failed === null || challenge !== null ? null : signInProblem(failed.error),
  )
  const [asked, setAsked] = useState<Asked | null>(
    failed === null || challenge === null ? null : { credential: failed.credential, challenge },
  )
  const [tried, setTried] = useState<Credential | null>(failed?.credential ?? null)

  async function attempt(credential: Credential, proof?: string): Promise<void> {
    setTried(credential)
    const isAlone = 'withPasskey' in credential
    const passkey = isAlone
      ? await provePasskey(await createClient({ url: serverUrl, retries: 1 }).signInChallenge())
      : proof
    try {
      if ('token' in credential && (await onToken?.(credential.token, credential.keep)) === true) return
      await signInWith(credential, passkey)
    } catch (error) {
      const challenge = challengeIn(error)
      if (challenge === null) throw error
      setAsked({ credential, challenge })
      if (proof !== undefined) throw error
    }
  }
  async function run(work: () => Promise<void>, isToken = true): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      await work()
    } catch (error) {
      setProblem(signInProblem(error, isToken))
    } finally {
      setBusy(false)
    }
  }
  return {
    isBusy,
    problem,
    asked,
    tried,
    signIn(credential: Credential) {
      setAsked(null)
      return run(() => attempt(credential), 'token' in credential)
    },
    // Browsers ask for a passkey only after a press.
    confirm: ({ credential, challenge }: Asked) => run(async () => attempt(credential, await provePasskey(challenge))),
    giveUp() {
      setAsked(null)
      setProblem(null)
    },
  }
}

/** The challenge that came with a refusal. Null: it was refused for another reason, or this person has no passkey here. */
function challengeIn(error: unknown): PasskeyChallenge | null {
  if (!(error instanceof ClientError) || error.code !== 'passkey_required' || !hasPasskeys()) return null
  const { passkey } = error.problem ?? {}
  if (typeof passkey !== 'object' || passkey === null || !('challenge_id' in passkey)) return null
  return passkey as PasskeyChallenge
}

interface FormProps {
  isBusy: boolean
  isTalk: boolean
  /** A passkey alone is enough for some people here. */
  hasPasskey: boolean
  onSubmit: (credential: Credential) => void
}

function Form({ isBusy, isTalk, hasPasskey, onSubmit }: FormProps) {
  const [token, setToken] = useState('')
  const [keep, setKeep] = useState(false)
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (token.trim() !== '' && !isBusy) onSubmit({ token: token.trim(), keep })
  }
  const stay = (
    <label className={styles.keep}>
      <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
      <span>
        Stay signed in on this device
        <span className={styles.note}>
          {!keep
            ? 'Otherwise this tab is signed in until you close it.'
            : isTalk
              ? 'Until the token ends or you sign out.'
              : 'Until nobody has used it for 30 days.'}
        </span>
      </span>
    </label>
  )
  return (
    <>
      {hasPasskey && (
        <div className={styles.way}>
          <Button
            kind="primary"
            icon={<PasskeyIcon />}
            isBusy={isBusy}
            onClick={() => onSubmit({ withPasskey: true, keep })}
          >
            Sign in with a passkey
          </Button>
          {stay}
        </div>
      )}
      <div className={styles.way}>
        <p>
          {isTalk
            ? 'To talk here you need a token. Whoever runs this server gives you one.'
            : `${hasPasskey ? 'Or open' : 'Open'} the link that the server printed when it started. For a new one, press Enter in its terminal, or make a code on a device that is signed in: Settings, Devices.`}
        </p>
      </div>
      <form className={styles.way} onSubmit={submit}>
        <TextField
          label={isTalk ? 'Your token' : 'Or paste the operator’s token'}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        {!hasPasskey && stay}
        <Button kind={hasPasskey ? 'plain' : 'primary'} type="submit" isBusy={isBusy} disabled={token.trim() === ''}>
          Sign in
        </Button>
      </form>
      {!window.isSecureContext && (
        <p className={styles.warning}>
          <WarningIcon aria-hidden="true" />
          <span>
            This connection is not encrypted: others on the network can read what you type here.
            {!isTalk &&
              ' There are no passkeys and no push messages either. Start the server with TLS, or open the console on its own machine.'}
          </span>
        </p>
      )}
    </>
  )
}

function Confirm({ isBusy, onConfirm, onCancel }: { isBusy: boolean; onConfirm: () => void; onCancel: () => void }) {
  return (
    <div className={styles.way}>
      <p>On this server a new device needs a passkey. Your browser asks for it.</p>
      <Button kind="primary" icon={<PasskeyIcon />} isBusy={isBusy} onClick={onConfirm} autoFocus>
        Use your passkey
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        Sign in another way
      </Button>
    </div>
  )
}

function Trouble({ problem, onRetry }: { problem: SignInProblem; onRetry: (() => void) | null }) {
  return (
    <div className={styles.trouble} role="alert">
      <h2>{problem.title}</h2>
      <p>{problem.text}</p>
      {problem.canRetry && onRetry !== null && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

const reasons: Readonly<Record<WhySignedOut, string>> = {
  asked: 'You are signed out, and nothing of the console is left in this browser.',
  refused: 'This device was signed out: it was not used for a long time, or somebody revoked it.',
  proxy: 'The proxy in front of this server no longer says who you are. Reload this page to sign in there again.',
  unheard:
    'You are signed out here, but the server did not answer. Revoke this device in the settings of another one, or wait: it ends by itself.',
}

/** On the page for users, where they differ. */
const reasonsOfUsers: Readonly<Partial<Record<WhySignedOut, string>>> = {
  asked: 'You are signed out, and nothing of this page is left in this browser.',
  refused: 'Your token has ended, or somebody has revoked it. Sign in with a new one.',
}

function SignedOut({ why, isTalk }: { why: WhySignedOut; isTalk: boolean }) {
  return (
    <p className={styles.signedOut} role="status">
      {(isTalk ? reasonsOfUsers[why] : null) ?? reasons[why]}
    </p>
  )
}

/** A ship's wheel, as in the navigation. */
function Mark() {
  return <img src={`${consolePath}/icon.svg`} alt="" className={styles.mark} />
}

interface SignInProblem {
  title: string
  text: string
  /** The same may work in a moment. */
  canRetry: boolean
}

/** Why signing in did not work, and the one thing to do about it. `isToken`: it was tried with a token. */
export function signInProblem(error: unknown, isToken = true): SignInProblem {
  const text = errorText(error)
  if (error instanceof PasskeyCancelled) {
    const again = 'You did not confirm with your passkey. Try again, or sign in another way.'
    return { title: 'Not confirmed', text: again, canRetry: true }
  }
  const code = error instanceof ClientError ? error.code : null
  if (code === 'code_invalid') {
    return {
      title: 'This link does not work any more',
      text: 'A link signs in once, and only for five minutes. Press Enter in the terminal of the server for a new one.',
      canRetry: false,
    }
  }
  if (code === 'unauthorized' && isToken) {
    const where =
      'Copy the whole token. The server printed that of the operator at its first start at a terminal; others were made by somebody.'
    return { title: 'The server does not know this token', text: where, canRetry: false }
  }
  if (code === 'unreachable') {
    const start = 'Is it running? Start it, or check the network.'
    return { title: 'The server does not answer', text: start, canRetry: true }
  }
  if (code === 'passkey_required') return { title: 'Signing in needs a passkey', text, canRetry: false }
  return { title: 'You are not signed in', text, canRetry: code === 'rate_limited' }
}
