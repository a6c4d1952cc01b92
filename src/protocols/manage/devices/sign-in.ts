import { ServerError } from '../../../domain/errors.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import { isRemoteUser } from '../../../domain/supervision/user-name.ts'
import { consolePlace, refuseForeignPage } from '../../../http/auth/console/own-origin.ts'
import { PROOF_HEADER } from '../../../http/auth/console/proofs.ts'
import { createWindowCounter } from '../../../http/auth/usage-limits.ts'
import type { Request, Route } from '../../../http/route.ts'
import { decodeBody } from '../supervision/decode.ts'
import { deviceRecord, deviceView, shownUser } from './encode.ts'
import type { DeviceRoutesDeps } from './routes.ts'
import { type SignedIn, SignInSchema } from './schema.ts'

/** As many wrong tokens as an address may send. */
const WRONG_PER_MINUTE = 10

const purpose: ProofPurpose = { kind: 'sign_in' }

export function createSignIn(deps: DeviceRoutesDeps): Route['handle'] {
  const { codes, devices, proofs, audit, clock, publicUrl, counts } = deps
  const failures = createWindowCounter({
    kind: 'failed sign-ins',
    limit: WRONG_PER_MINUTE,
    windowMs: 60_000,
    clock,
    counts,
  })

  /** A right code or token passes although others wait: nobody can guess it. */
  function refuse(request: Request, error: ServerError): ServerError {
    const address = request.raw.socket.remoteAddress ?? request.via
    const wait = failures.waitFor(address)
    if (wait === null) {
      failures.hit(address)
      return error
    }
    return new ServerError('rate_limited', `Too many failed logins from this address; try again in ${wait} s.`, {
      details: { retry_after_seconds: wait },
    })
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
    throw new ServerError('invalid_request', 'There is nothing to sign in with.', {
      problems: [
        { pointer: '/code', detail: 'Send a code, or the operator’s token: "Authorization: Bearer <token>".' },
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

  return async (request, reply) => {
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
}

const wrongCode = (): ServerError =>
  new ServerError(
    'code_invalid',
    'This code is wrong, was used already, or is older than five minutes. For a new one, press Enter in the terminal of the server, or sign in with the operator’s token.',
  )
