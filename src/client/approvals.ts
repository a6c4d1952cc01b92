// Approvals: what waits for a person, and the decisions.

import { ClientError } from './client-error.ts'
import { at, type CallOptions, type Calls, type ConnectionOptions, queryOf } from './connection.ts'
import type { WithProof } from './sign-in.ts'
import type {
  Approval,
  EditCheck,
  FileLines,
  Grant,
  GroupDecided,
  LookedAt,
  Remembered,
  ShownApproval,
} from './wire.ts'

export type ApprovalStatus = Approval['status']

export interface ListOptions extends CallOptions {
  /** Default: `pending`. */
  status?: ApprovalStatus | 'all'
  /** Id of a session. Your own sessions can also be named by their name. */
  session?: string
  /** At most 100; default 50. */
  limit?: number
  /** `approval_id` of the last approval of the previous page. */
  before?: string | undefined
}

export interface WatchOptions extends CallOptions {
  session?: string
  /** How often to ask the server. Default 2,000. */
  everyMs?: number
}

export interface ApproveOptions extends CallOptions, Remembered, WithProof {
  reason?: string
  looked_at?: LookedAt
  /** Replace all arguments of the call. A secret that is left as `[masked]` stays what it is. */
  arguments?: Record<string, unknown>
  /** A change by an agent elsewhere may overwrite the file although it has changed meanwhile. */
  force?: boolean
  /** The whole file as it should be. Throws `approval_changed` with the new diff and its digest; approve that. */
  content?: string
}

export interface RejectOptions extends CallOptions, Remembered {
  reason?: string
  looked_at?: LookedAt
}

/** A decision is sent once and never repeated. After `unreachable`, check with `approval(id)` whether it arrived. */
export interface Approvals {
  /** Newest first. An operator sees all approvals, others see those of their own sessions. */
  approvals(options?: ListOptions): Promise<Approval[]>
  /** With what would run, and the diff of a change. `all`: nothing is cut. `content`: also the whole text after a change. */
  approval(
    id: string,
    options?: CallOptions & {
      include?: readonly ('content' | 'all')[]
      /** One file of a change of several. */
      path?: string
    },
  ): Promise<ShownApproval>
  /** Yields each approval when it begins to wait, and again when it is decided or expires, until the signal aborts. */
  watchApprovals(options?: WatchOptions): AsyncGenerator<Approval, void, undefined>
  /** Pass the approval that was shown. If the call has changed since, this throws `approval_changed` and nothing runs. */
  approve(shown: Pick<Approval, 'approval_id' | 'digest'>, options?: ApproveOptions): Promise<Approval>
  /** What would come of an edit. Decides nothing. */
  checkEdit(
    id: string,
    edit: { arguments: Record<string, unknown> } | { content: string },
    options?: CallOptions,
  ): Promise<EditCheck>
  /** Lines of the file after a change, for what its diff leaves out. Without `to`: to the end. For operators. */
  fileLines(id: string, options?: CallOptions & { from?: number; to?: number; path?: string }): Promise<FileLines>
  /** The value of one argument without masks. The audit trail has who looked. */
  reveal(id: string, name: string, options?: CallOptions): Promise<{ name: string; text: string }>
  /** With `remember`, similar calls are refused from now on. */
  reject(shown: Pick<Approval, 'approval_id' | 'digest'>, options?: RejectOptions): Promise<Approval>
  /**
   * Decides about approvals of low risk with the same `view.group` after one look. Each says what became of it. Throws `invalid_request`,
   * and decides nothing, unless they are one group.
   */
  decideGroup(
    decision: 'approve' | 'reject',
    shown: readonly Pick<Approval, 'approval_id' | 'digest'>[],
    options?: CallOptions & { reason?: string; looked_at?: LookedAt },
  ): Promise<GroupDecided['items']>
  /** Gives the result in the tool's place, or the answer to a question. The tool does not run for it. Any JSON value. */
  respond(
    shown: Pick<Approval, 'approval_id' | 'digest'>,
    result: unknown,
    options?: WithProof & CallOptions & { reason?: string; looked_at?: LookedAt },
  ): Promise<Approval>
  /** Calls that are allowed or refused without asking. For operators. */
  grants(options?: CallOptions & { agent?: string; session?: string }): Promise<Grant[]>
  revokeGrant(id: string, options?: CallOptions): Promise<void>
}

const LARGEST_PAGE = 100
const EVERY_MS = 2_000

export function createApprovals({ get, post, postOnce, remove }: Calls, sleep: ConnectionOptions['sleep']): Approvals {
  async function approvals({ status, session, limit, before, signal }: ListOptions = {}): Promise<Approval[]> {
    const query = queryOf({ status, session_id: session, limit, before })
    return (await get<{ approvals: Approval[] }>(`/approvals${query}`, { signal })).approvals
  }

  const approval: Approvals['approval'] = (id, { signal, include = [], path } = {}) => {
    const query = queryOf({ include: include.length === 0 ? undefined : include.join(','), path })
    return get(at('approvals', id, query), { signal })
  }

  async function* pending(options: ListOptions): AsyncGenerator<Approval> {
    for (let before: string | undefined; ; ) {
      const page = await approvals({ ...options, before, limit: LARGEST_PAGE })
      yield* page
      before = page.at(-1)?.approval_id
      if (page.length < LARGEST_PAGE) return
    }
  }

  /** Null if it was deleted with its session. */
  async function ended(id: string, signal: AbortSignal | undefined): Promise<Approval | null> {
    try {
      return await approval(id, { signal })
    } catch (error) {
      if (error instanceof ClientError && error.code === 'approval_not_found') return null
      throw error
    }
  }

  const decide = (
    decision: 'approve' | 'reject' | 'respond',
    { approval_id, digest }: Pick<Approval, 'approval_id' | 'digest'>,
    { signal, passkey, ...more }: ApproveOptions & { result?: unknown },
  ): Promise<Approval> => postOnce(at('approvals', approval_id), { decision, digest, ...more }, { signal, passkey })

  return {
    approvals,
    approval,
    async *watchApprovals({ everyMs = EVERY_MS, ...options } = {}) {
      const { signal } = options
      const waiting = new Set<string>()
      for (;;) {
        const still = new Set<string>()
        for await (const one of pending(options)) {
          still.add(one.approval_id)
          if (waiting.has(one.approval_id)) continue
          waiting.add(one.approval_id)
          yield one
        }
        for (const id of waiting) {
          if (still.has(id)) continue
          waiting.delete(id)
          const over = await ended(id, signal)
          if (over !== null) yield over
        }
        await sleep(everyMs, signal)
      }
    },
    checkEdit: (id, edit, options) => post(at('approvals', id, '/check'), edit, options),
    fileLines: (id, { from, to, path, signal } = {}) =>
      get(`${at('approvals', id, '/lines')}${queryOf({ from, to, path })}`, { signal }),
    reveal: (id, name, options) => postOnce(at('approvals', id, '/reveal'), { name }, options),
    approve: (shown, options = {}) => decide('approve', shown, options),
    reject: (shown, options = {}) => decide('reject', shown, options),
    respond: (shown, result, options = {}) => decide('respond', shown, { ...options, result }),
    async decideGroup(decision, shown, { signal, ...more } = {}) {
      const items = shown.map(({ approval_id: id, digest }) => ({ id, digest }))
      return (await postOnce<GroupDecided>('/approvals', { decision, items, ...more }, { signal })).items
    },
    async grants({ agent, session, signal } = {}) {
      const path = `/grants${queryOf({ agent, session_id: session })}`
      return (await get<{ grants: Grant[] }>(path, { signal })).grants
    },
    revokeGrant: (id, options) => remove(at('grants', id), options),
  }
}
