import type { Io } from '../../terminal/io.ts'
import { askSecret } from '../../terminal/terminal-prompt.ts'

/** The operator's token of a server: known from the start, or asked for when it is needed. */
export interface OperatorToken {
  current(): string | null
  /** Asks the person at the terminal. True if there is a token now. */
  ask(signal: AbortSignal): Promise<boolean>
  /** The server refused it. A typed token is forgotten, so that the person is asked again. */
  refused(): void
}

export function createOperatorToken(known: string | null, io: Io): OperatorToken {
  let typed: string | null = null
  return {
    current: () => known ?? typed,
    async ask(signal) {
      if (known !== null || typed !== null) return true
      typed = await askSecret(
        'A call needs approval. Type the operator’s token (it is not shown; Enter leaves the call pending): ',
        io,
        signal,
      )
      return typed !== null
    },
    refused() {
      typed = null
    },
  }
}
