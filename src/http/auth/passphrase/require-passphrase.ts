import { ServerError } from '../../../domain/errors.ts'
import { decoded } from '../../../domain/text/decoded.ts'
import type { Request } from '../../route.ts'
import { noPassphrase, type Passphrase } from './passphrase.ts'

/** Its value is percent-encoded, because a header has no place for every character. */
export const PASSPHRASE_HEADER = 'x-quarterdeck-passphrase'

/**
 * To be called by every route that decides, widens a policy, restores or hands over, before it does anything. Through the local socket the
 * request needs the operator's passphrase; over the network the operator's token is enough. Rejects with `passphrase_required`,
 * `passphrase_wrong` and `rate_limited`. Null: none is needed.
 */
export type RequirePassphrase = (request: Pick<Request, 'via' | 'header'>) => Promise<void> | null

/** Null: this server has no config folder, so nobody can have a passphrase. */
export function createRequirePassphrase(passphrase: Passphrase | null): RequirePassphrase {
  // A check takes time and counts as a try, so each request is checked once, whoever asks.
  const checked = new WeakMap<object, Promise<void>>()
  const check = async (request: Parameters<RequirePassphrase>[0]): Promise<void> => {
    if (passphrase === null) {
      throw new ServerError('forbidden', 'This server keeps no passphrase, so nothing can be decided here.')
    }
    const sent = request.header(PASSPHRASE_HEADER)
    if (sent === undefined) {
      if (!passphrase.isSet()) throw noPassphrase()
      throw new ServerError('passphrase_required', "This needs the operator's passphrase.")
    }
    await passphrase.verify(decoded(sent))
  }
  return (request) => {
    if (request.via !== 'ctl') return null
    const checking = checked.get(request) ?? check(request)
    checked.set(request, checking)
    return checking
  }
}

/** The headers with which a command sends the passphrase. */
export const passphraseHeaders = (passphrase: string): Record<string, string> => ({
  [PASSPHRASE_HEADER]: encodeURIComponent(passphrase.toWellFormed()),
})
