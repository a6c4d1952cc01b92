import { ServerError } from '../../../domain/errors.ts'

/** Why a call got no answer. The text is what the model reads: what happened, and nothing of our network. */
const texts = {
  private_address: 'The service has a private address, and this tool may not call private addresses.',
  unreachable: 'The service could not be reached.',
  insecure: 'The service could not be reached securely.',
  took_too_long: 'The service took too long to answer.',
  broke_off: 'The service broke off while it answered.',
  undecodable: 'The answer of the service could not be decoded.',
  too_many_redirects: 'The service redirects too often.',
  bad_redirect: 'The service redirects to an address that this tool may not call.',
} as const

export type FailureReason = keyof typeof texts

export const serviceFailure = (reason: FailureReason, cause?: unknown): ServerError =>
  new ServerError('tool_failed', texts[reason], { details: { reason }, cause })

/** An argument that fits its schema and yet cannot be sent. */
export const badArgument = (problem: string): ServerError => new ServerError('invalid_request', problem)
