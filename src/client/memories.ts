// What agents keep about users between sessions, and the end of all that is kept under the name of a user.

import { at, type CallOptions, type Calls, queryOf } from './connection.ts'
import type { ErasedUser, Memory } from './wire.ts'

/** Left out: your own. */
export interface MemoryOwner extends CallOptions {
  /** For operators: of this user. */
  owner?: string
}

export interface MemoriesClient {
  memories: {
    /** The newest first. For operators `owner` may be `*`: everybody. `complete` is false where there are more. */
    list(options?: MemoryOwner & { agent?: string }): Promise<{ memories: Memory[]; complete: boolean }>
    /** The agent is told the new text from the next message on. */
    correct(id: string, text: string, options?: MemoryOwner): Promise<Memory>
    forget(id: string, options?: MemoryOwner): Promise<void>
    /** Everything, or everything that one agent keeps. Resolves with how many facts there were. */
    forgetAll(options?: MemoryOwner & { agent?: string }): Promise<number>
  }
  users: {
    /** For admins. Everything under exactly this name; `left` says what could not be removed. May be repeated. */
    erase(user: string, options?: CallOptions): Promise<ErasedUser>
  }
}

export const createMemoriesClient = ({ get, json, remove }: Calls): MemoriesClient => ({
  memories: {
    list: ({ signal, ...query } = {}) => get(`/memories${queryOf({ ...query })}`, { signal }),
    correct: (id, text, { signal, owner } = {}) =>
      json({ method: 'PATCH', path: at('memories', id, queryOf({ owner })), body: { text }, signal }),
    forget: (id, { signal, owner } = {}) => remove(at('memories', id, queryOf({ owner })), { signal }),
    async forgetAll({ signal, ...query } = {}) {
      const path = `/memories${queryOf({ ...query })}`
      return (await json<{ forgotten: number }>({ method: 'DELETE', path, signal })).forgotten
    },
  },
  users: {
    erase: (user, { signal } = {}) => json({ method: 'DELETE', path: at('users', user), signal }),
  },
})
