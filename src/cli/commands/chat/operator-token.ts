import { askSecret } from '../../terminal/ask-secret.ts'
import type { Io } from '../../terminal/io.ts'

/** The operator's token of the server that is talked to: known from the start, or asked for when it is needed. */
export interface OperatorToken {
  current(): string | null
  /** Asks the person at the terminal; true: there is one now. */
  ask(signal: AbortSignal): Promise<boolean>
  /** The server did not take it. One that was typed is forgotten, so that the person is asked again. */
  refused(): void
}

export function createOperatorToken(known: string | null, io: Io): OperatorToken {
  let typed: string | null = null
  return {
    current: () => known ?? typed,
    async ask(signal) {
      if (known !== null || typed !== null) return true
      typed = await askSecret('The operator’s token decides (typing is hidden, Enter leaves it pending): ', io, signal)
      return typed !== null
    },
    refused() {
      typed = null
    },
  }
}
