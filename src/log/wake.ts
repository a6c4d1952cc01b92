// Wakes whoever waits for something that happens elsewhere: in another part of this process, or in another process on the same
// store. A wake carries no data, it only says which session to look at. It may get lost, come twice or come for nothing. Where
// wakes can get lost, everybody also polls, so that a lost wake is only a delay.

import type { Clock } from '../domain/clock.ts'

/**
 * What can change in a session. `entries`: its log has grown, or the session was deleted. `runs`: one of its runs was asked to
 * stop, was answered, has ended, or waits to be started. `feed`: it may have new items. The feed is about all sessions, so the id is
 * empty.
 */
export type Topic = 'entries' | 'runs' | 'feed'

/** Every implementation passes `wake.contract.ts`. */
export interface Wake {
  /**
   * Calls `look` when another member of the topic says that a session has changed, and with null when wakes may have been lost:
   * then look at everything that you wait for. It is never called before `notify` has returned, and may be called once for
   * several changes.
   */
  join(topic: Topic, look: (sessionId: string | null) => void): WakeMember
}

export interface WakeMember {
  /** Wakes all other members of the topic, in this process and in others. Returns at once and never throws. */
  notify(sessionId: string): void
  leave(): void
}

export interface LocalWakeOptions {
  clock: Pick<Clock, 'soon' | 'after'>
  /** How often everybody looks without being woken: every 1,000 ms or more often. Null: never; one process owns the store. */
  pollMs: number | null
}

interface Member {
  topic: Topic
  look: (sessionId: string | null) => void
  /** Sessions that it has not been told about yet. */
  changed: Set<string>
}

/** Wakes the members in this process. */
export function createLocalWake({ clock, pollMs }: LocalWakeOptions): Wake {
  const members = new Set<Member>()
  let isScheduled = false
  let stopPolling: (() => void) | null = null

  function deliver(): void {
    isScheduled = false
    for (const member of [...members]) {
      const { changed } = member
      member.changed = new Set()
      for (const sessionId of changed) if (members.has(member)) member.look(sessionId)
    }
  }

  function poll(): void {
    stopPolling = null
    for (const member of [...members]) if (members.has(member)) member.look(null)
    keepPolling()
  }

  function keepPolling(): void {
    if (members.size > 0 && pollMs !== null) stopPolling ??= clock.after(pollMs, poll)
  }

  return {
    join(topic, look) {
      const self: Member = { topic, look, changed: new Set() }
      members.add(self)
      keepPolling()
      return {
        notify(sessionId) {
          for (const other of members) {
            if (other === self || other.topic !== topic) continue
            other.changed.add(sessionId)
            if (!isScheduled) clock.soon(deliver)
            isScheduled = true
          }
        },
        leave() {
          members.delete(self)
          if (members.size > 0) return
          stopPolling?.()
          stopPolling = null
        },
      }
    },
  }
}
