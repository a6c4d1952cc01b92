import { ClientError } from 'quarterdeck/client'
import { PasskeyCancelled } from './passkey.ts'

export interface SignInProblem {
  title: string
  text: string
  /** The same may work in a moment. */
  canRetry: boolean
}

/** Why signing in did not work, and the one thing to do about it. */
export function signInProblem(error: unknown): SignInProblem {
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof PasskeyCancelled) {
    return { title: 'Not confirmed', text: 'You did not confirm with your passkey. Try again.', canRetry: true }
  }
  const code = error instanceof ClientError ? error.code : null
  if (code === 'code_invalid') {
    return {
      title: 'This link does not work any more',
      text: 'A link signs in once, and only for five minutes. Press Enter in the terminal of the server for a new one.',
      canRetry: false,
    }
  }
  if (code === 'unauthorized') {
    const where =
      'Copy the whole token of the operator. The server printed it at its first start at a terminal, or you have made it.'
    return { title: 'The server does not know this token', text: where, canRetry: false }
  }
  if (code === 'unreachable') {
    const start = 'Is it running? Start it, or check the network.'
    return { title: 'The server does not answer', text: start, canRetry: true }
  }
  if (code === 'passkey_required') return { title: 'Signing in needs a passkey', text, canRetry: false }
  return { title: 'You are not signed in', text, canRetry: code === 'rate_limited' }
}
