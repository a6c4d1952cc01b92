// A question that a tool asks a person in the middle of its work. It is kept as an approval of the kind `question`.

import type { Effect, JsonSchema } from './tool-settings.ts'

export interface ToolQuestion {
  message: string
  schema: JsonSchema
  /** What the tool needs to go on after the answer, in its own words. People do not see it. */
  state?: string | undefined
}

/** The part of the record that only a question has. */
export interface AskedQuestion extends ToolQuestion {
  /** The place of the question among those that the call has asked: 0, 1, 2, … */
  index: number
  /** What a repeated call of the tool does. */
  effect: Effect
  /** The call waits for the answer while its run executes, because it cannot be suspended. It ends with its process. */
  held?: true
}

export type QuestionAnswer =
  | { type: 'answered'; value: unknown }
  | { type: 'rejected'; reason: string | null }
  | { type: 'expired' }

/** A question of an earlier attempt of the same call, with its answer. */
export interface GivenAnswer extends ToolQuestion {
  answer: QuestionAnswer
}
