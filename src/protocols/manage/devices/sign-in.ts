import { hasCode, ServerError } from '../../../domain/errors.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import { isRemoteUser } from '../../../domain/supervision/user-name.ts'
import { consolePlace, refuseForeignPage } from '../../../http/auth/console/own-origin.ts'
import type { Passkey } from '../../../http/auth/console/passkeys.ts'
import { PROOF_HEADER } from '../../../http/auth/console/proofs.ts'
import { maySignIn } from '../../../http/auth/tokens/scopes.ts'
import { createWindowCounter } from '../../../http/auth/usage-limits.ts'
import type { Reply, Request } from '../../../http/route.ts'
import { isSamePerson } from '../../../supervision/sessions/may-command.ts'
import { decodeBody } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { deviceRecord, deviceView, shownUser } from './encode.ts'
import type { DeviceRoutesDeps } from './routes.ts'
import { type SignedIn, SignInSchema } from './schema.ts'

/** As many wrong tokens as an address may send. */
const WRONG_PER_MINUTE = 10
/** As many sign-ins with a passkey as an address may begin. Behind a proxy all people have one. */
const BEGUN_PER_MINUTE = 30

const purpose: ProofPurpose = { kind: 'sign_in' }

export function createSignIn(deps: DeviceRoutesDeps) {
  const { codes, devices, tokens, proofs, audit, operators, clock, publicUrl, counts } = deps
  const perMinute = (kind: string, limit: number) =>
    createWindowCounter({ kind, limit, windowMs: 60_000, clock, counts })
  const failures = perMinute('failed sign-ins', WRONG_PER_MINUTE)
  const begun = perMinute('sign-ins with a passkey', BEGUN_PER_MINUTE)

  /** A right code or token passes although others wait: nobody can guess it. */
  function refuse(request: Request, error: ServerError): ServerError {
    return hit(failures, request, 'failed logins') ?? error
  }

  /** For somebody who has not said who they are. */
  async function challenge(request: Request, reply: Reply): Promise<void> {
    refuseForeignPage(request.raw, publicUrl)
    await decodeBody(request, NoBodySchema)
    const limited = hit(begun, request, 'sign-ins')
    if (limited !== null) throw limited
    const place = consolePlace(request.raw, publicUrl)
    const asked = await proofs.ask(null, purpose, place)
    if (asked === null) {
      const why = place.whyNot ?? 'Nobody can sign in with a passkey at this address.'
      throw new ServerError('invalid_request', `${why} Sign in with a code or the operator’s token.`)
    }
    reply.json(200, asked)
  }

  /**
   * The name under which the person of this passkey signs in: that of what lets them in. A passkey alone never does: whoever revokes
   * somebody's tokens and signs their devices out locks them out. Throws `forbidden`.
   */
  async function letIn({ user }: Passkey): Promise<string> {
    if (isRemoteUser(user)) {
      throw new ServerError(
        'forbidden',
        `An identity provider signs ${user} in. Sign in there: no passkey does it here.`,
      )
    }
    await tokens.refresh()
    const used = (await devices.list()).toSorted((a, b) => b.lastUsedAt - a.lastUsedAt)
    const found = [...used, ...tokens.current().filter(maySignIn)].find(
      (one) => !isRemoteUser(one.user) && isSamePerson(operators, shownUser(one.user), user),
    )
    if (found !== undefined) return found.user
    if (deps.named.includes(user)) return user === 'operator' ? LOCAL_USER : user
    throw new ServerError(
      'forbidden',
      `Your passkey is right, but ${shownUser(user)} is locked out: no operator’s token without limits, no device that is signed in, and no name in the operators of quarterdeck.yaml. Ask an admin for a link: Settings, Devices. Or make a token where the server runs: \`quarterdeck tokens create --role operator\`.`,
    )
  }

  /** Who signs in, and what they showed. */
  async function find(request: Request, code: string | undefined) {
    const { role, owner, hasToken, isConsole, tokenId, source } = request.principal
    if (source === 'proxy') {
      throw new ServerError('forbidden', `The proxy has signed you in as ${owner} already. The console needs no more.`)
    }
    if (code !== undefined) {
      const found = await codes.find(code)
      if (found === null) throw refuse(request, wrongCode())
      if (isRemoteUser(found.user)) {
        throw new ServerError(
          'forbidden',
          `This code is for ${found.user}, whom an identity provider signs in. With it they add a first passkey.`,
        )
      }
      return { user: found.user, isVouched: found.isVouched, how: { with: 'code' } }
    }
    if (source === 'oidc') {
      throw new ServerError(
        'forbidden',
        'A token of an identity provider ends soon, so it does not sign a browser in. Put a proxy that signs people in before this server: docs/do/let-people-sign-in.md.',
      )
    }
    if (isConsole) {
      throw new ServerError(
        'forbidden',
        'This device is signed in already. For another one, make a code: POST /devices/codes.',
      )
    }
    if (hasToken && role === 'operator') {
      const credential = tokenId === undefined ? {} : { credential: tokenId }
      return { user: owner, isVouched: false, how: { with: 'token', ...credential } }
    }
    if (hasToken) {
      throw new ServerError('forbidden', "Only an operator signs in here; the token you sent is a user's.")
    }
    if (request.header('authorization') !== undefined) {
      throw refuse(request, new ServerError('unauthorized', 'The Authorization header has no token of an operator.'))
    }
    const proof = request.header(PROOF_HEADER)
    if (proof !== undefined) {
      const passkey = await proofs.identify(proof).catch((error: unknown) => {
        throw hasCode(error, 'unauthorized') ? refuse(request, error) : error
      })
      return { user: await letIn(passkey), isVouched: true, how: { with: 'passkey', passkey: passkey.id } }
    }
    throw new ServerError('invalid_request', 'There is nothing to sign in with.', {
      problems: [
        {
          pointer: '/code',
          detail: 'Send a code, the operator’s token ("Authorization: Bearer <token>"), or X-Passkey with a proof.',
        },
      ],
    })
  }

  /** Throws `passkey_required` with the challenge to sign. */
  async function prove(request: Request, by: Caller): Promise<AuditRecord['details']> {
    try {
      return await proofs.require(by, purpose)
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== 'passkey_required') throw error
      const place = consolePlace(request.raw, publicUrl)
      const passkey = await proofs.ask(by.user, purpose, place)
      const others = (await proofs.own(by.user)).map(({ rpId }) => rpId)
      const isElsewhere = passkey === null && others.length > 0
      const message = isElsewhere
        ? `Signing in needs a passkey, and yours work only at ${[...new Set(others)].join(', ')}. ${place.whyNot ?? 'Sign in there, and make a code for this device.'}`
        : error.message
      throw new ServerError('passkey_required', message, { details: { ...error.details, passkey } })
    }
  }

  async function signIn(request: Request, reply: Reply): Promise<void> {
    refuseForeignPage(request.raw, publicUrl)
    const { code, label = '', keep = false } = await decodeBody(request, SignInSchema)
    const { user, isVouched, how } = await find(request, code)
    const proof = request.header(PROOF_HEADER)
    const by: Caller = { user: shownUser(user), role: 'operator', proof }
    const proved = isVouched ? {} : await prove(request, by)
    // Only now, so that a passkey that fails does not use it up. Somebody may have been faster.
    if (code !== undefined && (await codes.take(code)) === null) throw wrongCode()
    const hasProof = isVouched || 'passkey' in proved
    const { device, token } = await devices.add({ user, label, isKept: keep, isVouched: hasProof })
    try {
      const details = { device: device.id, channel: 'console', ...how, ...proved }
      await audit(deviceRecord(clock.now(), 'signed_in', by.user, details))
    } catch (error) {
      // No token works that is not in the trail.
      await devices.remove(device.id)
      throw error
    }
    request.log.info('a browser signed in', { device_id: device.id, user: by.user })
    const view = deviceView(device, { tokenId: device.id })
    const body: SignedIn = { token, user: by.user, device: view }
    reply.json(200, body)
  }

  return { signIn, challenge }
}

/** Counts one more from this address. Returns `rate_limited` in place of that if there were too many. */
function hit(counter: ReturnType<typeof createWindowCounter>, { raw, via }: Request, what: string): ServerError | null {
  const address = raw.socket.remoteAddress ?? via
  const wait = counter.waitFor(address)
  if (wait === null) {
    counter.hit(address)
    return null
  }
  return new ServerError('rate_limited', `Too many ${what} from this address; try again in ${wait} s.`, {
    details: { retry_after_seconds: wait },
  })
}

const wrongCode = (): ServerError =>
  new ServerError(
    'code_invalid',
    'This code is wrong, was used already, or is older than five minutes. For a new one, press Enter in the terminal of the server, or sign in with the operator’s token.',
  )
