import { z } from 'zod'
import type { BodyDescription, ResponseDescription, RouteDescription } from '../../../http/route-description.ts'

type Content = NonNullable<ResponseDescription['content']>

/** Two contracts behind one route, as one: either body, either answer, the errors of both. */
export function joinDescriptions(a: RouteDescription, b: RouteDescription): RouteDescription {
  const statuses = new Set([...Object.keys(a.responses), ...Object.keys(b.responses)].map(Number))
  const responses: Record<number, ResponseDescription> = {}
  for (const status of statuses) {
    const joined = joinResponses(a.responses[status], b.responses[status])
    if (joined !== undefined) responses[status] = joined
  }
  const body = joinBodies(a, b)
  return {
    tag: a.tag,
    description: [`${a.tag}: ${a.description ?? ''}`, `${b.tag}: ${b.description ?? ''}`].join('\n\n'),
    headers: { ...a.headers, ...b.headers },
    ...(body === undefined ? {} : { body }),
    responses,
    errors: [...new Set([...a.errors, ...b.errors])],
  }
}

function joinBodies(a: RouteDescription, b: RouteDescription): BodyDescription | undefined {
  if (a.body === undefined || b.body === undefined) return a.body ?? b.body
  const named = ({ tag, body }: RouteDescription) =>
    Object.entries(body?.examples ?? {}).map(([name, example]) => [`${tag}: ${name}`, example])
  return {
    schema: z.union([a.body.schema, b.body.schema]),
    examples: Object.fromEntries([...named(a), ...named(b)]),
  }
}

function joinResponses(a?: ResponseDescription, b?: ResponseDescription): ResponseDescription | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const content: Record<string, Content[string]> = { ...a.content }
  for (const [type, of] of Object.entries(b.content ?? {})) {
    const other = content[type]
    content[type] = other === undefined ? of : { ...other, schema: z.union([other.schema, of.schema]) }
  }
  return { description: a.description, content, headers: { ...a.headers, ...b.headers } }
}
