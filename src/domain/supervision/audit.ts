// The audit trail: every decision, every call with side effects, every change of a token. It records who, what and when, plus
// digests, but no content, so that it can outlive the conversation.

export interface AuditRecord {
  at: number
  kind:
    | 'approval_asked'
    | 'decision'
    /** The approval was given, but the call did not run. */
    | 'approval_voided'
    | 'call_started'
    /** A call that had asked a person goes on with the answer. */
    | 'call_resumed'
    | 'call_finished'
    | 'grant_made'
    | 'grant_revoked'
    /** A remembered yes or no decided about work of an agent elsewhere: `details.grant` names it. */
    | 'grant_used'
    | 'token_created'
    | 'token_revoked'
    /** A browser signed in or out: `details.device` says which. */
    | 'signed_in'
    | 'signed_out'
    | 'device_revoked'
    | 'device_code_made'
    | 'passkey_added'
    | 'passkey_removed'
    /** An admin asked to remove everything that is kept under the name `details.user`. */
    | 'user_erased'
    /** An operator read, listed or cancelled what belongs to somebody else. */
    | 'operator_read'
    | 'operator_list'
    | 'operator_cancel'
    /** What happened to a supervised session: `details.what` says what. */
    | 'supervised'
    /** A policy allowed what an agent elsewhere asked, without a person. */
    | 'auto_approved'
    /** Somebody was shown something before they decided: `details` name its digest and where. */
    | 'shown'
    /** Somebody looked at a secret that was masked: `details.name` says which. */
    | 'revealed'
    /** Somebody tried to decide or to command and may not: `details` say what, on what and why, and where the entries were bounded. */
    | 'refused'
    /** The first entry of a chain of one process: `details` name the process and the last tie before it. */
    | 'chain_begun'
    /** The lengths and heads of chains at this moment, so that none can be cut off or removed later: `details.heads`. */
    | 'chains_tied'
    /** Entries of another store's trail came here as a chain of their own: `details` name its length and head. */
    | 'trail_imported'
  /** Who did it: a user, an operator, an agent, or `timeout`. */
  by: string
  session: string | null
  run: string | null
  /** Empty for records about a token, a device, a passkey, a user or the trail itself. */
  agent: string
  tool: string
  call: string | null
  /** Facts that depend on the kind: decision, digest, status, duration, approval, grant. */
  details: Record<string, string | number | boolean | null>
}

/** A stored record. Its hash covers the hash of the entry before it, so nobody can change, remove or insert one unnoticed. */
export interface AuditEntry {
  /** Id of the chain that the entry belongs to. Processes that write at the same time write a chain each. */
  chain: string
  /** 1, 2, 3, … without gaps in its chain. */
  n: number
  /**
   * Where it stands among the entries of all chains, as they were written. Set where several processes write and entries were read
   * without naming a chain. Left out where there is one chain: its place is `n` then.
   */
  place?: number | undefined
  /** The record as JSON text: exactly what was hashed. */
  text: string
  hash: string
}

/** The chain of a store that one process owns. */
export const MAIN_CHAIN = 'main'

const IMPORTED_MAIN = `${MAIN_CHAIN}@`

/** What the main chain is called after it came from another store. Its first entry gives the name, so two of them do not meet. */
export const importedMain = (firstHash: string): string => `${IMPORTED_MAIN}${firstHash.slice(0, 16)}`

export const isImportedMain = (chain: string): boolean => chain.startsWith(IMPORTED_MAIN)

/** An entry that is a tie, and when it was written. */
export interface Tie extends Pick<AuditEntry, 'chain' | 'n' | 'hash'> {
  at: number
}

/** Whether the trail is whole, as far as it has been looked at. */
export interface ChainState {
  /** `checking`: what was looked at is whole, the rest has not been looked at. */
  status: 'whole' | 'broken' | 'checking'
  /** How many entries are known to be whole. */
  checked: number
  entries: number
  /** The last entry of the only chain; null in an empty trail, and where there are several chains. */
  head: { seq: number; hash: string } | null
  /** Number of the first entry that is wrong or missing in its chain. */
  brokenAt: number | null
  /** What is wrong, in a sentence. */
  problem: string | null
  /** When the check last looked at an entry or at the end; null: never. */
  checkedAt: number | null
  chains: { chain: string; entries: number; head: string; isWhole: boolean }[]
  /** The newest entry that ties the chains together; null where one process owns the store. */
  lastTie: Tie | null
}
