// How each kind of record is called on the wire. In a file of its own, because the console loads it before its first page.

export interface WireNames {
  kind: string
  /** First segment of its routes: the kind and an s. The client counts on that. */
  path: string
  /** The field with its id. */
  id: string
  /** What people call a list of them. */
  title: string
  /** Statuses that have another word there. */
  words: Readonly<Record<string, string>>
}

export const wireNames = {
  approval: { kind: 'approval', path: 'approvals', id: 'approval_id', title: 'Approvals', words: {} },
  prompt: { kind: 'prompt', path: 'prompts', id: 'prompt_id', title: 'Questions', words: {} },
  standby: { kind: 'wait', path: 'waits', id: 'wait_id', title: 'Standing by', words: { pending: 'waiting' } },
  alert: { kind: 'alert', path: 'alerts', id: 'alert_id', title: 'Silent agents', words: {} },
} as const satisfies Record<string, WireNames>
