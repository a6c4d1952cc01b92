import { ServerError } from '../../../domain/errors.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import { consolePlace, refuseForeignPage } from '../../../http/auth/console/own-origin.ts'
import type { Reply, Request } from '../../../http/route.ts'
import { proofPurpose } from '../../../supervision/approvals/decide.ts'
import { isSamePerson, viaOf } from '../../../supervision/sessions/may-command.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodeDecision } from '../approvals/decode.ts'
import { decodeBody } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { deviceRecord, passkeyView, shownUser } from './encode.ts'
import type { DeviceRoutesDeps } from './routes.ts'
import { NewChallengeSchema, NewPasskeySchema, type PasskeyList, type ProofPurpose as WantedProof } from './schema.ts'

export function createPasskeyHandlers(deps: DeviceRoutesDeps) {
  const { codes, devices, passkeys, proofs, audit, operators, publicUrl, clock } = deps

  /** Their own, and all of them for an admin. */
  const visible = async (by: Caller) =>
    (await passkeys.list()).filter((one) => operators.isAdmin(by.user, by) || one.user === operators.personOf(by.user))

  async function list(request: Request, reply: Reply): Promise<void> {
    const { whyNot } = consolePlace(request.raw, publicUrl)
    const found = await visible(callerOf(request))
    const body: PasskeyList = { passkeys: found.map(passkeyView), possible: whyNot === null, why_not: whyNot }
    reply.json(200, body)
  }

  async function options(request: Request, reply: Reply): Promise<void> {
    await decodeBody(request, NoBodySchema)
    refuseForeignPage(request.raw, publicUrl)
    reply.json(200, await proofs.askNew(callerOf(request).user, consolePlace(request.raw, publicUrl)))
  }

  /** Somebody with a passkey has let this device in, and its person cannot prove anything here yet. */
  async function mayAddFirst({ principal, raw }: Request, user: string): Promise<boolean> {
    const { rpId } = consolePlace(raw, publicUrl)
    const isVouched = (await devices.list()).some(({ id, isVouched }) => id === principal.tokenId && isVouched)
    return isVouched && (await proofs.own(user)).every((one) => one.rpId !== rpId)
  }

  /** The same for somebody who has no device here: an identity provider signs them in. Uses the code up. Throws `code_invalid`. */
  async function isLetIn({ raw }: Request, user: string, code: string): Promise<boolean> {
    const found = await codes.find(code)
    const isTheirs = found !== null && isSamePerson(operators, shownUser(found.user), user)
    if (!isTheirs || !found.isVouched || (await codes.take(code)) === null) {
      throw new ServerError(
        'code_invalid',
        'This code is wrong, was used already, is older than five minutes, or nobody with a passkey has made it for you.',
      )
    }
    const { rpId } = consolePlace(raw, publicUrl)
    return (await proofs.own(user)).every((one) => one.rpId !== rpId)
  }

  async function add(request: Request, reply: Reply): Promise<void> {
    const { challenge_id, label = '', response, code } = await decodeBody(request, NewPasskeySchema)
    const by = callerOf(request)
    const isFirst =
      (await mayAddFirst(request, by.user)) || (code !== undefined && (await isLetIn(request, by.user, code)))
    const proof = isFirst ? {} : await proofs.require(by, { kind: 'passkey' })
    const made = await proofs.register(by.user, { challengeId: challenge_id, label, response })
    await audit(
      deviceRecord(clock.now(), 'passkey_added', by.user, { ...about(made), ...viaOf(by), ...proofOf(proof) }),
    )
    request.log.info('a passkey was added', { passkey_id: made.id, user: made.user })
    reply.json(201, passkeyView(made))
  }

  async function remove(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    const by = callerOf(request)
    if (!(await visible(by)).some((one) => one.id === id)) throw notFound(id)
    const proof = await proofs.require(by, { kind: 'passkey' })
    const removed = await passkeys.remove(id)
    if (removed === null) throw notFound(id)
    const details = { ...about(removed), ...viaOf(by), ...proofOf(proof) }
    await audit(deviceRecord(clock.now(), 'passkey_removed', by.user, details))
    request.log.info('a passkey was removed', { passkey_id: id, user: removed.user })
    reply.empty(204)
  }

  async function challenge(request: Request, reply: Reply): Promise<void> {
    const { for: wanted } = await decodeBody(request, NewChallengeSchema)
    refuseForeignPage(request.raw, publicUrl)
    const { proof: _, ...by } = callerOf(request)
    if (!(await proofs.isOn())) {
      throw new ServerError('invalid_request', 'Nobody has a passkey yet, so nothing needs a proof.')
    }
    const purpose: ProofPurpose = wanted.kind === 'decision' ? decisionPurpose(wanted) : wanted
    const asked = await proofs.ask(by.user, purpose, consolePlace(request.raw, publicUrl))
    // Without a proof it says why they cannot have one.
    if (asked === null) await proofs.require(by, purpose)
    reply.json(200, asked)
  }

  return { list, options, add, remove, challenge }
}

type WantedDecision = Extract<WantedProof, { kind: 'decision' }>

/** The same words as in the decision itself, read in the same way. */
function decisionPurpose({ kind: _, approval_id, decision, digest, ...brought }: WantedDecision): ProofPurpose {
  return proofPurpose(approval_id, digest, { ...decodeDecision({ decision, ...brought }), decision })
}

const about = ({ id, user }: { id: string; user: string }) => ({ passkey: id, user })

/** The passkey that proved it, beside the one that it is about. */
const proofOf = ({ passkey }: AuditRecord['details']): AuditRecord['details'] =>
  passkey === undefined ? {} : { proof: passkey }

const notFound = (id: string): ServerError =>
  new ServerError('record_not_found', `There is no passkey ${JSON.stringify(id.slice(0, 128))}.`)
