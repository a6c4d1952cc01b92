import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { consolePlace } from '../../../http/auth/console/own-origin.ts'
import type { Reply, Request } from '../../../http/route.ts'
import { isSamePerson, refuseForOthers, refuseUnknownOwner, viaOf } from '../../../supervision/sessions/may-command.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodeBody } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { deviceRecord, deviceView, shownUser, signedInBy } from './encode.ts'
import type { DeviceRoutesDeps } from './routes.ts'
import { type Code, type Me, NewCodeSchema } from './schema.ts'

export function createDeviceHandlers(deps: DeviceRoutesDeps) {
  const { codes, devices, passkeys, proofs, audit, operators, base, publicUrl, about, clock } = deps

  /** Their own, and all of them for an admin. */
  const visible = async (by: Caller) =>
    (await devices.list()).filter(
      (one) => operators.isAdmin(by.user, by) || isSamePerson(operators, shownUser(one.user), by.user),
    )

  async function signOut(request: Request, reply: Reply): Promise<void> {
    await decodeBody(request, NoBodySchema)
    const { isConsole, tokenId } = request.principal
    if (!isConsole || tokenId === undefined) {
      const how = isConsole
        ? 'The proxy has signed you in: sign out there.'
        : 'Other tokens are revoked with DELETE /tokens/{id}.'
      throw new ServerError('invalid_request', `Only a device signs out. ${how}`)
    }
    await devices.remove(tokenId)
    const { user } = callerOf(request)
    await audit(deviceRecord(clock.now(), 'signed_out', user, { device: tokenId, channel: 'console' }))
    reply.empty(204)
  }

  async function who(request: Request, reply: Reply): Promise<void> {
    const { principal } = request
    const by = signedInBy(principal)
    const user = by === null ? null : callerOf(request).user
    const passkey = by === null && (await proofs.usable(null, consolePlace(request.raw, publicUrl))).length > 0
    reply.json(200, { user, role: principal.role, signed_in_by: by, passkey })
  }

  async function me(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request)
    const { user } = by
    const device = (await devices.list()).find(({ id }) => id === request.principal.tokenId)
    const { whyNot } = consolePlace(request.raw, publicUrl)
    const body: Me = {
      user,
      owner: request.principal.owner,
      role: 'operator',
      admin: operators.isAdmin(user, by),
      signed_in_by: signedInBy(request.principal) ?? 'token',
      groups: [...(request.principal.groups ?? [])],
      email: request.principal.email ?? null,
      device: device === undefined ? null : deviceView(device, request.principal),
      passkeys: {
        registered: (await passkeys.list()).length,
        mine: (await proofs.own(user)).length,
        possible: whyNot === null,
        why_not: whyNot,
      },
      version: about.version,
      program: { name: about.program.name, data_dir_flag: about.program.dataDirFlag() },
      agent: about.agent,
      operators: [...about.operators],
    }
    reply.json(200, body)
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const found = await visible(callerOf(request))
    reply.json(200, { devices: found.map((one) => deviceView(one, request.principal)) })
  }

  async function revoke(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    const by = callerOf(request)
    const device = (await visible(by)).find((one) => one.id === id)
    if (device === undefined || !(await devices.remove(id))) {
      throw new ServerError('record_not_found', `There is no device ${JSON.stringify(id.slice(0, 128))}.`)
    }
    const details = { device: id, user: shownUser(device.user), ...viaOf(by) }
    await audit(deviceRecord(clock.now(), 'device_revoked', by.user, details))
    reply.empty(204)
  }

  async function makeCode(request: Request, reply: Reply): Promise<void> {
    const { user } = await decodeBody(request, NewCodeSchema)
    const by = callerOf(request)
    const owner = user === undefined ? request.principal.owner : user === 'operator' ? LOCAL_USER : user
    refuseUnknownOwner(operators, owner)
    refuseForOthers(operators, by, owner)
    const isVouched = await proofs.isOn()
    const proof = await proofs.require(by, { kind: 'device_code' })
    // First, so that no code works that is not in the trail.
    const details = { user: shownUser(owner), ...viaOf(by), ...proof }
    await audit(deviceRecord(clock.now(), 'device_code_made', by.user, details))
    const { text, expiresAt } = await codes.make({ user: owner, isVouched })
    const body: Code = { code: text, url: `${base}/console#code=${text}`, expires_at: isoTime(expiresAt) }
    reply.json(201, body)
  }

  return { signOut, who, me, list, revoke, makeCode }
}
