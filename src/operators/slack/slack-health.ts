// Whether people can be reached in Slack, and what is wrong if not. It learns from every call and from the socket.

import { type Clock, isoTime } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { appTokenTrouble, kindOf, roomTrouble, type SlackFailure, scopeTrouble, tokenTrouble } from './slack-failure.ts'
import type { SocketState } from './slack-socket.ts'

/** A shorter break does not matter: Slack asks for a new socket several times a day, and networks have hiccups. */
export const LONGEST_BREAK_MS = 30_000

export function createSlackHealth({ clock, logger }: { clock: Clock; logger: Logger }) {
  /** What is wrong, by its cause. */
  const troubles = new Map<string, string>()
  /** What is wrong without keeping anybody from answering. It is only logged. */
  const noted = new Set<string>()
  let silentSince: number | null = null
  let botName: string | null = null
  let cancelTimer: (() => void) | null = null

  /** Two causes may have the same text. It is logged once. */
  function set(cause: string, trouble: string | null): void {
    const before = troubles.get(cause) ?? null
    if (before === trouble) return
    const isKnown = () => [...troubles.values()].includes(trouble ?? before ?? '')
    if (trouble === null) {
      troubles.delete(cause)
      if (!isKnown()) logger.info('Slack works again', { was: before })
      return
    }
    if (!isKnown()) logger.error('Slack does not work', { trouble })
    troubles.set(cause, trouble)
  }

  /** Calls that get no answer are trouble only after a while. */
  function silent(method: string): void {
    silentSince ??= clock.mono()
    if (clock.mono() - silentSince < LONGEST_BREAK_MS) return
    set('silence', `Slack has not answered for a while (${method}). The server goes on trying. Check the network.`)
  }

  /** A card without its file still reaches people. */
  function mention(trouble: string): void {
    if (noted.has(trouble)) return
    noted.add(trouble)
    logger.error('A part of Slack does not work', { trouble })
  }

  return {
    worked(method: string, room: string | null): void {
      silentSince = null
      set('silence', null)
      set('token', null)
      set(`scope of ${method}`, null)
      // Other methods work in an archived channel too.
      if (room !== null && method.startsWith('chat.')) set(`room ${room}`, null)
    },

    failed(failure: SlackFailure, room: string | null) {
      const { method, error, neededScope } = failure
      const kind = kindOf(failure)
      if (kind === 'no_answer') return silent(method)
      silentSince = null
      set('silence', null)
      if (error === null) return
      if (kind === 'token') set('token', tokenTrouble(error))
      const isRefused = kind === 'room' || (kind === 'other' && method === 'chat.postMessage')
      if (isRefused && room !== null) set(`room ${room}`, roomTrouble(room, error, botName))
      if (kind !== 'scope') return
      const trouble = scopeTrouble(neededScope ?? `for ${method}`)
      if (/^(chat|conversations)\./.test(method)) set(`scope of ${method}`, trouble)
      else mention(trouble)
    },

    scopes(missing: readonly string[]): void {
      const [essential, others] = [missing.filter(isEssential), missing.filter((scope) => !isEssential(scope))]
      set('scopes', essential.length === 0 ? null : scopeTrouble(essential.join(', ')))
      if (others.length > 0) mention(scopeTrouble(others.join(', ')))
      if (missing.length > 0) return
      for (const cause of [...troubles.keys()]) if (cause.startsWith('scope of ')) set(cause, null)
    },

    /** Slack said how a room is. Null: the bot can post there. */
    room(room: string, error: string | null): void {
      set(`room ${room}`, error === null ? null : roomTrouble(room, error, botName))
    },

    /** Slack said who we are. `trouble`: why this is wrong; null: it is right. */
    self(name: string | null, trouble: string | null): void {
      botName = name
      set('team', trouble)
    },

    /** Null: this process listens no more. */
    socket(state: SocketState | null) {
      if (state === null) {
        cancelTimer?.()
        cancelTimer = null
        return set('socket', null)
      }
      if (state.type === 'connecting') {
        if (cancelTimer !== null) return
        const since = isoTime(state.since)
        cancelTimer = clock.after(LONGEST_BREAK_MS, () => {
          set('socket', `There is no connection to Slack since ${since}. The server goes on trying. Check the network.`)
        })
        return
      }
      cancelTimer?.()
      cancelTimer = null
      set('socket', state.type === 'refused' ? appTokenTrouble(state.reason) : null)
    },

    /** Why nobody is reached in this room just now, with how to mend it; null: it works. */
    trouble(room: string): string | null {
      const scope = [...troubles.keys()].find((cause) => cause.startsWith('scope of ')) ?? ''
      for (const cause of ['token', 'team', 'scopes', scope, `room ${room}`, 'socket', 'silence']) {
        const found = troubles.get(cause)
        if (found !== undefined) return found
      }
      return null
    },

    get isIll(): boolean {
      return troubles.size > 0
    },
  }
}

export type SlackHealth = ReturnType<typeof createSlackHealth>

/** Without these nobody is asked, or is asked twice. */
const isEssential = (scope: string): boolean => scope === 'chat:write' || scope.endsWith(':history')
