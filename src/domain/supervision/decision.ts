// A person's decision about something that an agent asked.

import type { ArgumentConditions } from '../agent/approval-rule.ts'
import type { WorkMatch } from './grant.ts'

export const rememberScopes = ['session', '15m', 'workspace', 'always'] as const
export type RememberScope = (typeof rememberScopes)[number]

/** Who calls, and in which role. `anyone` sent no token that names `user`: they may look and talk, but not decide. */
export interface Caller {
  user: string
  role: 'anyone' | 'user' | 'operator'
  /** The way they came: `http`, `console`, `ctl`, `slack`, …; absent: `http`. */
  via?: string | undefined
  /** Groups that an identity provider or a proxy puts them into. */
  groups?: readonly string[] | undefined
  /** An identity provider or a proxy says that they are an admin. */
  isAdmin?: true | undefined
  /** Id of the token they sent, for the audit trail. */
  credential?: string | undefined
  /** What they sent to prove that they have a passkey. Nobody has checked it yet. */
  proof?: string | undefined
}

/** What somebody else says about a caller, beside the name. */
export type Membership = Pick<Caller, 'groups' | 'isAdmin'>

export interface Decision {
  /** `respond`: gives the result in the tool's place, or the answer to a question. The tool does not run for it. */
  decision: 'approve' | 'reject' | 'respond'
  /** Of a change by an agent elsewhere: it may overwrite the file although that has changed meanwhile. */
  force?: boolean
  /** Of a change by an agent elsewhere: the whole file as it should be, in place of what the agent proposed. */
  content?: string
  /** With `content`: the edit is kept and shown again. Nothing is approved, also if the text is what the record has already. */
  onlyEdit?: true
  /** Digest of the question that the person saw. If the question has another one, the decision is refused. */
  digest?: string
  /** What the person had on their screen, as their own surface says. */
  lookedAt?: {
    isWhole: boolean
    /** Of which values they saw only a part: bytes that were shown, and of how many. */
    notSeen: readonly { name: string; shown: number; total: number }[]
  }
  reason?: string | undefined
  /** Replace the arguments that the model wrote. */
  arguments?: Record<string, unknown>
  /** The same as the person sent them, with masks in the place of secrets; absent: they were sent as they are. */
  sentArguments?: Record<string, unknown> | undefined
  /** With `respond`: any JSON value. */
  result?: unknown
  /** How many are decided after one look; absent: only this one. */
  groupSize?: number
  /** Also allow similar calls from now on, or refuse them if this is a rejection. */
  remember?: {
    /** `15m`: everywhere, for 15 minutes. `workspace` is for agents elsewhere, `always` for our own. */
    scope: RememberScope
    /** Of our own agents: which arguments count as similar; left out, all must be equal. */
    where?: ArgumentConditions
    /** Of agents elsewhere: one of the approval's `matches`; left out, the first. */
    match?: WorkMatch
    /** Of our own agents. Null: until it is revoked; absent: 15 minutes in a session, without end otherwise. */
    seconds?: number | null
  }
}
