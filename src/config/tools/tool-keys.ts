// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The keys that several kinds of tools share.

import { z } from 'zod'
import type { ApprovalRule } from '../../domain/agent/approval-rule.ts'
import { risks } from '../../domain/agent/tool-settings.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { approvalRule, ruleExpectation } from '../agent/approval-yaml.ts'
import { jsonSchema, parameterNames, parameters } from '../source/json-schema-yaml.ts'
import { count, duration, key, oneOrMore, type Report, text } from '../source/schema-key.ts'

export const TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

export const toolNameWords = 'a name of letters, digits and _ that does not begin with a digit'

export const toolType = <T extends string>(type: T) => key(z.literal(type), 'The kind of tool.', 'http')

export const name = key(
  z.string().regex(TOOL_NAME),
  'Name that the model uses; it must be unique.',
  'get_weather',
  toolNameWords,
)

export const description = key(
  z.string().min(10),
  'When and why to use the tool. The model reads this.',
  'Current weather for a city.',
)

export const parametersKey = key(
  parameters().optional(),
  'A JSON Schema of an object, or the short form: each name with its schema.',
  { city: { type: 'string', description: 'Name of the city' } },
  'a JSON Schema, or names of parameters with their schemas',
)

export const returnsKey = key(
  jsonSchema().optional(),
  'Schema of the result.',
  { type: 'object', properties: { celsius: { type: 'number' } } },
  'a JSON Schema',
)

/** The key `headers` of tools that are called over HTTP. */
export const headers = (description = 'Headers to send with every request.') =>
  key(
    z
      .record(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
        // A line break would start another header.
        z
          .string()
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
          .meta({ example: 'Bearer ${TOKEN}', expected: 'text on one line' }),
      )
      .optional(),
    description,
    { Authorization: 'Bearer ${TOKEN}' },
    'header names with text values',
  )

/** Names or globs of what a server or a document offers. */
export const globs = (description: string, example: string, expected: string) =>
  key(oneOrMore(text()).optional(), description, [example], expected)

const predictState = z.strictObject({
  state_key: key(text(), 'Key of the shared state that the call sets.', 'document'),
  tool_argument: key(
    text().optional(),
    'Argument that becomes its value. Default: all arguments as one object.',
    'text',
  ),
})

/** How a tool is run. `define-tools.ts` fills in the defaults, because they differ between the kinds. */
export const ruleKeys = {
  effect: key(
    z.enum(['read', 'idempotent', 'once']).optional(),
    'Side effects: `read` = none; `idempotent` = repeating it changes nothing more; `once` = it must not happen twice. Default: `once`; for prompts `read`.',
    'read',
  ),
  risk: key(
    z.enum(risks).optional(),
    'How much harm a wrong call can do. Default: `low` for agents and if the effect is `read`, otherwise `high`.',
    'low',
  ),
  approval: key(
    approvalRule().optional(),
    'When a person must approve a call. Default: the agent’s `approval.default`.',
    { when: { amount: { above: 100 } }, otherwise: 'run' },
    ruleExpectation,
  ),
  timeout: duration(
    'How long a call may take. Default: the server’s `tools.timeout_seconds` (30); for an agent, that agent’s `limits.duration`.',
    '10s',
  ).optional(),
  retries: key(
    count(0).max(10).optional(),
    'Further attempts after a failure; not allowed if the effect is `once`. Default: 0.',
    2,
  ),
  predict_state: key(
    z.array(predictState).optional(),
    'Shared state that clients may show early, while the model still writes the arguments.',
    [{ state_key: 'document', tool_argument: 'text' }],
  ),
}

const rules = z.strictObject(ruleKeys)

export type RulesYaml = z.infer<typeof rules>

/** `effect` is the default of this kind of tool. */
export function checkRetries(rules: RulesYaml, effect: 'read' | 'once', report: Report): void {
  if ((rules.effect ?? effect) !== 'once' || (rules.retries ?? 0) === 0) return
  report(
    'retries',
    'a tool with effect: once is never retried, because the first attempt may have worked. If repeating a call is safe, write effect: read or effect: idempotent; otherwise remove retries',
  )
}

/** A condition on an argument that does not exist would never match, so nobody would be asked. */
export function checkArguments(
  tool: RulesYaml & { parameters?: Record<string, unknown> | undefined },
  report: Report,
): void {
  const known = parameterNames(tool.parameters)
  if (known === null) return
  const check = (path: readonly PropertyKey[], argument: string) => {
    if (known.includes(argument)) return
    const near = didYouMean(argument, known)
    const advice =
      near === null
        ? known.length === 0
          ? 'Describe it under parameters.'
          : `It has ${known.join(', ')}.`
        : `Did you mean ${near}?`
    report(path, `the tool has no parameter ${argument}. ${advice}`)
  }
  for (const { path, argument } of conditionArguments(tool.approval)) check(path, argument)
  for (const [index, { tool_argument: argument }] of (tool.predict_state ?? []).entries()) {
    if (argument !== undefined) check(['predict_state', index, 'tool_argument'], argument)
  }
}

function conditionArguments(rule: ApprovalRule | undefined): { path: PropertyKey[]; argument: string }[] {
  if (rule?.ask !== 'when') return []
  return rule.any.flatMap((conditions, index) =>
    Object.keys(conditions).map((name) => ({
      path: ['approval', 'when', ...(rule.any.length > 1 ? [index] : []), name],
      argument: name.split('.', 1)[0] ?? name,
    })),
  )
}
