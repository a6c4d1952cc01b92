import type { ClientCall } from '../../domain/wait.ts'
import type { AnswerEncoder } from '../shared/answer/stream-answer.ts'

/** An encoder that is told, before the end of a run, which calls it leaves to the caller. */
export interface CallingEncoder extends AnswerEncoder {
  takeCalls(calls: readonly ClientCall[]): void
}
