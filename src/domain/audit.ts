// The audit trail: every decision, every call with side effects, every change of the tokens. It holds no content, only who, what, when and digests, so
// that it can outlive the conversation.

export interface AuditRecord {
  at: number
  kind:
    | 'approval_asked'
    | 'decision'
    /** It was given, and its call did not run. */
    | 'approval_voided'
    | 'call_started'
    | 'call_finished'
    | 'grant_made'
    | 'grant_revoked'
    | 'token_created'
    | 'token_revoked'
  /** Who did it: a user, an operator, an agent, or `timeout`. */
  by: string
  session: string | null
  run: string | null
  /** Empty where it is about a token. */
  agent: string
  tool: string
  call: string | null
  /** Facts of the kind: decision, digest, status, duration, approval, grant. */
  details: Record<string, string | number | boolean | null>
}

/** As stored: each names the hash of the one before it, so that none can be changed, taken out or put in unnoticed. */
export interface AuditEntry {
  /** 1, 2, 3, … without a gap. */
  n: number
  /** The record as JSON text: what was hashed. */
  text: string
  hash: string
}
