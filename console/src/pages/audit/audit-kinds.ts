import type { AuditRecord } from '../../../../src/domain/supervision/audit.ts'

/** The kinds of entries that the server writes, in the order of the filter. */
const words: Readonly<Record<AuditRecord['kind'], string>> = {
  approval_asked: 'Approval asked for',
  decision: 'Decision',
  approval_voided: 'Approval that was not used',
  auto_approved: 'Approved by a policy',
  shown: 'Shown to a person',
  revealed: 'Secret revealed',
  refused: 'Refused',
  call_started: 'Call started',
  call_resumed: 'Call went on',
  call_finished: 'Call finished',
  grant_made: 'Remembered yes',
  grant_revoked: 'Remembered yes taken back',
  grant_used: 'Decided by a remembered yes',
  token_created: 'Token created',
  token_revoked: 'Token revoked',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  device_revoked: 'Device revoked',
  device_code_made: 'Sign-in code made',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  user_erased: 'User erased',
  operator_read: 'Operator looked at a session',
  operator_list: 'Operator looked at a list',
  operator_cancel: 'Operator stopped a run',
  supervised: 'Coding agent',
  chain_begun: 'Server began its record',
  chains_tied: 'Records of servers compared',
  trail_imported: 'Record brought from elsewhere',
}

/** What people decided. The rest is what they looked at, and what agents and servers did. */
export const DECISIONS = [
  ...(['decision', 'revealed', 'grant_made', 'grant_revoked', 'operator_cancel'] as const),
  ...(['token_created', 'token_revoked', 'device_revoked', 'passkey_added', 'passkey_removed', 'user_erased'] as const),
].join(',')
export const EVERYTHING = 'all'

export const auditKinds: Readonly<Record<string, string>> = words

/** An unknown kind of a newer server is shown as it is. A damaged entry has none. */
export const auditKindWord = (kind: string): string => (kind === '' ? 'Damaged entry' : (auditKinds[kind] ?? kind))
