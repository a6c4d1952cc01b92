// What a token alone must not be able to do, once somebody has a passkey: an agent of the same OS user may find a token, but it cannot
// press a finger on a sensor.

import type { AuditRecord } from './audit.ts'
import type { Caller, RememberScope } from './decision.ts'

/** What a proof with a passkey is for. It counts for nothing else. */
export type ProofPurpose =
  | {
      kind: 'decision'
      approvalId: string
      /** Of what the person was shown. */
      digest: string
      decision: 'approve' | 'respond'
      remember: RememberScope | null
      /** SHA-256 of all else that the decision brings: edited arguments, the result, …; absent: it brings nothing. */
      brings?: string
    }
  | { kind: 'sign_in' }
  | { kind: 'device_code' }
  | { kind: 'passkey' }
  | { kind: 'token' }

export interface StepUp {
  /**
   * Throws `passkey_required` unless the caller has proved with a passkey of theirs that they want exactly this, or nobody has a passkey.
   * Asking again with the same caller and purpose gives the same answer. Returns what the audit trail says about it.
   */
  require(by: Caller, purpose: ProofPurpose): Promise<AuditRecord['details']>
}

/** For servers that have no passkeys. */
export const noStepUp: StepUp = { require: async () => ({}) }
