// The JSON Schemas that editors use to complete and check our files. Draft 7, because yaml-language-server knows it best.

import { present } from '../../domain/present.ts'
import { agentYaml } from '../agent/agent-yaml.ts'
import { settingKeys, settings } from '../settings/settings.ts'
import { settingsYaml } from '../settings/settings-yaml.ts'
import { exampleOf, isSchema, type JsonSchema, schemaAt } from './json-schema-node.ts'
import { validationSchema } from './schema-key.ts'

export function agentJsonSchema(): JsonSchema {
  const description = 'An agent of Quarterdeck. docs/look-up/agent-yaml.md explains every key.'
  return titled(published(validationSchema(agentYaml)), 'agent.yaml', description)
}

export function settingsJsonSchema(): JsonSchema {
  const schema = validationSchema(settingsYaml())
  for (const key of settingKeys) {
    const node = schemaAt(schema, key.split('.'))
    if (node !== null) node.description = `${settings[key].description} Default: ${settings[key].defaultText}.`
  }
  const description = 'Settings of a Quarterdeck server. docs/look-up/settings.md explains every key.'
  return titled(published(schema), 'quarterdeck.yaml', description)
}

function titled(schema: JsonSchema, title: string, description: string): JsonSchema {
  const { $schema, ...rest } = schema
  return present({ $schema, title, description, ...rest })
}

/** A schema with `shared` becomes a definition of that name, so that it is not repeated everywhere. */
function published(schema: JsonSchema): JsonSchema {
  const definitions: Record<string, JsonSchema> = {}
  const root = publish(schema, definitions)
  return Object.keys(definitions).length === 0 ? root : { ...root, definitions }
}

/** The schema for others: without our private keys and meaningless bounds, and with `${NAME}` wherever a value is allowed. */
function publish(node: JsonSchema, definitions: Record<string, JsonSchema>): JsonSchema {
  const {
    expected: _expected,
    example: _example,
    refused: _refused,
    prose: _prose,
    shared,
    properties,
    items,
    ...rest
  } = node
  const { anyOf, oneOf, ...result }: JsonSchema = rest
  const example = exampleOf(node)
  if (example !== undefined) result.examples = [example]
  // An empty object as default only means that every key in it has its own default.
  if (isSchema(result.default) && Object.keys(result.default).length === 0) delete result.default
  if (result.maximum === Number.MAX_SAFE_INTEGER) delete result.maximum
  const below = (one: JsonSchema) => publish(one, definitions)
  if (isSchema(items)) result.items = below(items)
  if (properties !== undefined) result.properties = mapValues(properties, (one) => (isSchema(one) ? below(one) : one))
  if (isSchema(result.additionalProperties)) result.additionalProperties = below(result.additionalProperties)
  // `anyOf` and not `oneOf`, because a variable in place of a word fits several.
  const options = anyOf ?? oneOf
  if (options !== undefined) result.anyOf = options.filter(isSchema).map(below)
  return typeof shared === 'string' ? reference(shared, result, definitions) : withVariables(result)
}

function reference(name: string, node: JsonSchema, definitions: Record<string, JsonSchema>): JsonSchema {
  const { description, examples, default: value, ...definition } = node
  definitions[name] ??= withVariables(definition)
  // The description of the key stays with the key. Draft 7 would ignore it next to $ref.
  return present({ default: value, description, examples, allOf: [{ $ref: `#/definitions/${name}` }] })
}

const mapValues = <T, R>(record: Record<string, T>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

/** A variable is text until its value is filled in, so an editor must accept it in place of a number or a word. */
const VARIABLE = '\\$\\{'

function withVariables(node: JsonSchema): JsonSchema {
  switch (node.type) {
    case 'number':
    case 'integer':
    case 'boolean':
      return { ...node, type: [node.type, 'string'], pattern: VARIABLE }
    case 'string': {
      const { enum: words, format: _format, type, ...rest } = node
      if (words !== undefined)
        return {
          ...rest,
          anyOf: [
            { type, enum: words },
            { type, pattern: VARIABLE },
          ],
        }
      return node.pattern === undefined
        ? { type, ...rest }
        : { type, ...rest, pattern: `(?:${node.pattern})|${VARIABLE}` }
    }
    default:
      return node
  }
}
