import type { ServerError } from '../../../domain/errors.ts'
import { isPrivateHost, privateHostProblem } from '../service/safe-address.ts'
import type { ServiceRequest } from '../service/service-http.ts'
import { checkedHeaderValue, type HeaderTemplates } from '../template/header-templates.ts'
import { queryPairs, simpleText } from '../template/parameter-style.ts'
import { type Arguments, argumentOf } from '../template/template.ts'
import { parseUrlTemplate } from '../template/url-template.ts'
import type { OperationPlan, ParameterPlan } from './operation.ts'

interface OperationPlace {
  /** The address of the service, without a slash at the end. */
  base: string
  /** Headers of the settings. They override what the model says. */
  headers: HeaderTemplates
  allowPrivate: boolean
}

/** Returns a function that builds the request for given arguments. Throws at once when no arguments could work. */
export function operationRequest(
  method: string,
  plan: OperationPlan,
  place: OperationPlace,
  refuse: (problem: string) => ServerError,
): (args: Arguments) => ServiceRequest {
  const url = parseUrlTemplate(place.base + plan.path, refuse)
  if (!place.allowPrivate && isPrivateHost(url.base)) throw refuse(privateHostProblem(url.base))
  const inPath = new Map(plan.parameters.filter((plan) => plan.in === 'path').map((plan) => [plan.argument, plan]))

  return (args) => {
    const encodePath = (value: unknown, argument: string) =>
      simpleText(asSent(inPath.get(argument), value), inPath.get(argument)?.explode === true, encodeURIComponent)
    const pairs: string[] = []
    const headers: Record<string, string> = {}
    for (const parameter of plan.parameters) {
      const value = asSent(parameter, argumentOf(args, parameter.argument))
      if (value === undefined) continue
      if (parameter.in === 'query') pairs.push(...queryPairs(parameter.name, value, parameter.style, parameter.explode))
      if (parameter.in === 'header') {
        const text = simpleText(value, parameter.explode, (part) => part)
        headers[parameter.name.toLowerCase()] = checkedHeaderValue(parameter.name, text)
      }
    }
    const value = plan.body?.value(args)
    const body = plan.body === null || value === undefined ? null : plan.body.encode(value)
    const type = plan.body === null || body === null ? {} : { 'content-type': plan.body.contentType }
    return {
      method,
      url: url.fill(args, pairs, encodePath),
      headers: { ...headers, ...place.headers.fill({}), ...type },
      body,
      allowPrivate: place.allowPrivate,
    }
  }
}

/** A parameter whose content is JSON is sent as one JSON text. */
const asSent = (parameter: ParameterPlan | undefined, value: unknown): unknown =>
  parameter?.isJson === true && value !== undefined ? JSON.stringify(value) : value
