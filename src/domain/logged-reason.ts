import type { RunError } from './run.ts'

// Their texts hold what the model said, and that is not logged.
const OWN_WORDS: Readonly<Record<string, string>> = {
  model_refused: 'The model declined to answer.',
  invalid_answer: 'The answer does not fit the response format, also at the second try.',
}

/** Why something failed, for the log: without anything that a person or a model said. */
export const loggedReason = ({ code, message }: RunError): { code: string; reason: string } => ({
  code,
  reason: OWN_WORDS[code] ?? message,
})
