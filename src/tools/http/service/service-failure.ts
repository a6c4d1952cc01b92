import { ServerError } from '../../../domain/errors.ts'

/** Why a call got no answer. The model reads these texts, so they say what happened and nothing about our network. */
const texts = {
  private_address: 'The service has a private address, and this tool may not call private addresses.',
  unreachable: 'The service could not be reached.',
  insecure: 'The service could not be reached securely.',
  took_too_long: 'The service took too long to answer.',
  broke_off: 'The connection to the service broke off during the answer.',
  undecodable: 'The answer of the service could not be decoded.',
  too_many_redirects: 'The service redirects too often.',
  bad_redirect: 'The service redirects to an address that this tool may not call.',
} as const

type FailureReason = keyof typeof texts

export const serviceFailure = (reason: FailureReason, cause?: unknown): ServerError =>
  new ServerError('tool_failed', texts[reason], { details: { reason }, cause })

/** The error for an argument that fits its schema but cannot be sent. */
export const badArgument = (problem: string): ServerError => new ServerError('invalid_request', problem)
