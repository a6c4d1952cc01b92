// What a JSON Schema says, in words and examples for people. Pure.

/** The last part of a reference, which is the name of what it refers to. */
const nameOf = (schema) => schema?.$ref?.split('/').at(-1)

/** The type of a value in a few words. */
export function kindOf(resolve, given) {
  const schema = resolve(given) ?? {}
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(' | ')
  const options = optionsOf(schema)
  if (options.length > 0) {
    const kinds = [...new Set(options.map((option) => kindOf(resolve, option)))]
    return kinds.length > MOST_KINDS ? `one of ${options.length}` : kinds.join(' | ')
  }
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map((one) => kindOf(resolve, one)).join(', ')}]`
  if (schema.type === 'array') return `list of ${kindOf(resolve, schema.items)}`
  if (schema.type === 'object') return nameOf(given) ?? 'object'
  if (schema.format === 'binary') return 'file'
  return [schema.type ?? 'any'].flat().join(' | ')
}

const MOST_KINDS = 6

const optionsOf = (schema) => schema.anyOf ?? schema.oneOf ?? []

/** Limits and the default, in a few words each. */
export function notesOf(schema) {
  const between = (low, high, unit) => {
    if (low !== undefined && high !== undefined) return [`${low} to ${high}${unit}`]
    if (low !== undefined) return [`at least ${low}${unit}`]
    return high === undefined ? [] : [`at most ${high}${unit}`]
  }
  // A limit that only says that a number is safe in JavaScript tells nobody anything.
  const unlessHuge = (limit) => (Math.abs(limit) >= Number.MAX_SAFE_INTEGER ? undefined : limit)
  return [
    ...(schema.format === undefined || schema.format === 'binary' ? [] : [schema.format]),
    ...between(unlessHuge(schema.minimum), unlessHuge(schema.maximum), ''),
    ...between(schema.exclusiveMinimum, undefined, ' (more)'),
    ...between(schema.minLength, schema.maxLength, ' characters'),
    ...between(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern === undefined || schema.format !== undefined ? [] : [`pattern ${schema.pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

/**
 * What is inside a value: its keys, the items of a list, or the variants of a choice. Empty for simple values.
 * @returns {{ name: string, isRequired: boolean, isVariant: boolean, schema: any }[]}
 */
export function partsOf(resolve, given) {
  const schema = resolve(given) ?? {}
  const options = optionsOf(schema).filter((option) => partsOf(resolve, option).length > 0)
  if (options.length === 1) return partsOf(resolve, options[0])
  if (options.length > 1) {
    return options.map((option, i) => ({
      name: variantName(resolve, option) ?? `variant ${i + 1}`,
      isRequired: false,
      isVariant: true,
      schema: option,
    }))
  }
  if (schema.type === 'array') return partsOf(resolve, schema.items)
  if (schema.contentSchema !== undefined) return partsOf(resolve, schema.contentSchema)
  const keys = Object.entries(schema.properties ?? {}).map(([name, value]) => ({
    name,
    isRequired: schema.required?.includes(name) === true,
    isVariant: false,
    schema: value,
  }))
  const others = schema.additionalProperties
  if (typeof others !== 'object' || Object.keys(others).length === 0) return keys
  return [...keys, { name: '…', isRequired: false, isVariant: false, schema: others }]
}

/** Variants are told apart by a key with one fixed value: `type: "text"`. */
function variantName(resolve, option) {
  const { properties = {} } = resolve(option) ?? {}
  const fixed = Object.entries(properties).find(([, value]) => resolve(value)?.const !== undefined)
  if (fixed === undefined) return nameOf(option) ?? keysOf(resolve(option))
  return `${fixed[0]}: ${JSON.stringify(resolve(fixed[1]).const)}`
}

const keysOf = ({ required = [] }) => (required.length === 0 ? undefined : `{ ${required.join(', ')} }`)

const MOST_LEVELS = 5

/** A value that looks like what the schema describes, for answers whose author gave no example. */
export function sampleOf(resolve, given, level = 0) {
  const schema = resolve(given) ?? {}
  for (const value of [schema.example, schema.examples?.[0], schema.const, schema.enum?.[0], schema.default]) {
    if (value !== undefined) return value
  }
  const options = optionsOf(schema)
  if (options.length > 0) {
    const first = options.find((option) => resolve(option)?.type !== 'null') ?? options[0]
    return sampleOf(resolve, first, level)
  }
  const [type] = [schema.type].flat()
  if (schema.prefixItems !== undefined) return schema.prefixItems.map((one) => sampleOf(resolve, one, level + 1))
  if (type === 'array') return level >= MOST_LEVELS ? [] : [sampleOf(resolve, schema.items, level + 1)]
  if (type === 'object' || schema.properties !== undefined) {
    const shown = level >= MOST_LEVELS ? [] : Object.entries(schema.properties ?? {})
    return Object.fromEntries(shown.map(([name, value]) => [name, sampleOf(resolve, value, level + 1)]))
  }
  if (type === 'integer' || type === 'number') return Math.max(schema.minimum ?? 1, 1)
  if (type === 'boolean') return true
  if (type === 'null') return null
  return SAMPLES[schema.format] ?? 'text'
}

const SAMPLES = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  uuid: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  uri: 'https://example.com/',
  email: 'ada@example.com',
}
