// Erases what is kept under the name of a user. It is a row of ordinary deletes, so whoever was interrupted sends the request again. First
// goes what lets the user in, then what starts work for them, then that work, and last what agents have learned from it.

import type { Clock } from '../../../domain/clock.ts'
import { hasCode } from '../../../domain/errors.ts'
import { pageByPage } from '../../../domain/page-by-page.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Memories } from '../../../engine/memories/memories.ts'
import type { Devices } from '../../../http/auth/console/devices.ts'
import type { Passkeys } from '../../../http/auth/console/passkeys.ts'
import type { Tokens, WriteAudit } from '../../../http/auth/tokens/tokens.ts'
import type { Schedules } from '../../../schedules/schedules.ts'
import { viaOf } from '../../../supervision/sessions/may-command.ts'
import type { SignInDesk } from '../../../supervision/sign-ins/sign-in-desk.ts'
import { nullIf } from '../../shared/request/null-if.ts'
import { deviceRecord, shownUser } from '../devices/encode.ts'
import type { PushRoutesDeps } from '../push/routes.ts'
import type { ErasedUser, Left } from './schema.ts'

export interface EraseDeps {
  tokens: Pick<Tokens, 'refresh' | 'list' | 'revoke'>
  devices: Pick<Devices, 'list' | 'remove'>
  passkeys: Pick<Passkeys, 'list'>
  push: Pick<PushRoutesDeps['push'], 'list' | 'unsubscribe'>
  desk: Pick<SignInDesk, 'outOfAll'>
  schedules(): Promise<Pick<Schedules, 'list' | 'remove'>>
  engine: Pick<Engine, 'sessions'>
  memories: Pick<Memories, 'forget'>
  audit: WriteAudit
  clock: Pick<Clock, 'now'>
}

const PAGE = 100

/** The credential of the request stays: otherwise whoever erases themselves could not send it again. */
export function createEraseUser(deps: EraseDeps) {
  const { tokens, devices, passkeys, push, desk, engine, memories, audit, clock } = deps

  return async (user: string, by: Caller): Promise<ErasedUser> => {
    const left: ErasedUser['left'] = []

    /** How many it removes. What somebody else has just removed does not count, and what is refused is left. */
    async function each(what: Left['what'], ids: readonly string[], remove: (id: string) => Promise<unknown>) {
      let count = 0
      for (const id of ids) {
        try {
          await remove(id)
          count += 1
        } catch (error) {
          if (hasCode(error, 'conflict')) left.push({ what, id, why: error.message })
          else if (!hasCode(error, 'token_not_found') && !hasCode(error, 'record_not_found')) throw error
        }
      }
      return count
    }

    const idsOf = (found: readonly { id: string; user: string }[]): string[] =>
      found.filter((one) => one.user === user && one.id !== by.credential).map(({ id }) => id)

    async function signOut(device: string): Promise<void> {
      await devices.remove(device)
      const details = { device, user: shownUser(user), ...viaOf(by) }
      await audit(deviceRecord(clock.now(), 'device_revoked', by.user, details))
    }

    async function unsubscribe(): Promise<number> {
      const operator = { user, role: 'operator' } as const
      const found = (await push.list(operator).catch(nullIf('forbidden'))) ?? []
      // An operator may have other names, under which they go on.
      const own = found.filter(({ person }) => person === user).map(({ id }) => id)
      return each('push_subscription', own, (id) => push.unsubscribe(operator, id))
    }

    async function removeSchedules(): Promise<number> {
      const { list, remove } = await deps.schedules()
      const own = (await list()).filter(({ settings }) => settings.owner === user).map(({ id }) => id)
      return each('schedule', own, remove)
    }

    async function deleteSessions(): Promise<number> {
      let count = 0
      // The oldest first: what begins meanwhile comes at the end.
      const query = { owner: user, unlisted: true, order: 'oldest', limit: PAGE } as const
      const own = pageByPage<SessionRecord>(PAGE, (before) => engine.sessions.list({ ...query, before }))
      for await (const one of own) count += await each('session', [one.id], () => engine.sessions.remove(one))
      return count
    }

    // First, so that nobody is erased without being in the trail.
    await audit(deviceRecord(clock.now(), 'user_erased', by.user, { user, ...viaOf(by) }))
    await tokens.refresh()
    for (const id of idsOf(await passkeys.list())) left.push({ what: 'passkey', id, why: NEEDS_PROOF })
    // One after the other, as said above.
    return {
      user,
      tokens: await each('token', idsOf(tokens.list()), (id) => tokens.revoke(id, by.user)),
      devices: await each('device', idsOf(await devices.list()), signOut),
      push_subscriptions: await unsubscribe(),
      sign_ins: await desk.outOfAll(by, user),
      schedules: await removeSchedules(),
      sessions: await deleteSessions(),
      memories: await memories.forget(user, {}),
      left,
    }
  }
}

const NEEDS_PROOF = 'Only a passkey removes a passkey: in the console under Settings, or with DELETE /passkeys/{id}.'
