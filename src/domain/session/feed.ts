// The feed: what changed its state, across all sessions. It is for those who watch many sessions at once, so it says what
// changed and never what was said: no messages, arguments, reasons or names of tools.

import type { Risk } from '../agent/tool-settings.ts'
import type { PersonRecord } from '../records/record.ts'
import type { RunStatus } from './run.ts'
import type { SessionStatus } from './session.ts'

export type FeedItem = NewFeedItem & {
  /** Grows with every item and is never used twice. On the wire it is `f.<n>`. */
  n: number
}

/** A new session, run or wait, or one whose status changed. */
export type NewFeedItem = FeedSubject &
  (
    | { kind: 'session'; status: SessionStatus }
    | { kind: 'run'; status: RunStatus; parentRunId: string | null }
    /** Only what a person is asked: a call that the client has to make is not an item. */
    | { kind: 'wait'; type: PersonRecord['wait']; status: PersonRecord['status']; risk: Risk | null }
  )

interface FeedSubject {
  /** Epoch ms. */
  at: number
  /** Id of the session, run or wait. */
  id: string
  sessionId: string
  owner: string
  agent: string
}
