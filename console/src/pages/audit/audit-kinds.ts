import type { AuditRecord } from '../../../../src/domain/supervision/audit.ts'

/** The kinds of entries that the server writes, in the order of the filter. */
const words: Readonly<Record<AuditRecord['kind'], string>> = {
  approval_asked: 'Approval asked for',
  decision: 'Decision',
  approval_voided: 'Approval not used',
  auto_approved: 'Approved by a policy',
  shown: 'Shown to a person',
  revealed: 'Secret revealed',
  refused: 'Refused',
  call_started: 'Call started',
  call_resumed: 'Call went on',
  call_finished: 'Call finished',
  grant_made: 'Grant made',
  grant_revoked: 'Grant revoked',
  grant_used: 'Decided by a grant',
  token_created: 'Token created',
  token_revoked: 'Token revoked',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  device_revoked: 'Device revoked',
  device_code_made: 'Sign-in code made',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  operator_read: 'Operator read',
  operator_list: 'Operator listed',
  operator_cancel: 'Operator stopped a run',
  supervised: 'Coding agent',
  chain_begun: 'Server began a chain',
  chains_tied: 'Chains tied together',
  trail_imported: 'Trail imported',
}

export const auditKinds: Readonly<Record<string, string>> = words

/** An unknown kind of a newer server is shown as it is. A damaged entry has none. */
export const auditKindWord = (kind: string): string => (kind === '' ? 'Damaged entry' : (auditKinds[kind] ?? kind))
