// Reads an OpenAPI document into what the page shows. Pure.

/**
 * Follows references, and joins `allOf`. Returns any other value unchanged.
 * @returns {(value: any) => any}
 */
export function createResolve(document) {
  const resolve = (value) => {
    if (value?.$ref !== undefined) {
      const keys = value.$ref.slice(2).split('/')
      return resolve(keys.reduce((part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document))
    }
    return Array.isArray(value?.allOf) ? joined(value, resolve) : value
  }
  return resolve
}

function joined({ allOf, ...rest }, resolve) {
  const all = { properties: {}, required: [] }
  for (const { properties = {}, required = [], ...one } of [...allOf.map(resolve), rest]) {
    Object.assign(all, one)
    Object.assign(all.properties, withDetails(all.properties, properties))
    all.required.push(...required)
  }
  return all
}

const withDetails = (before, more) =>
  Object.fromEntries(Object.entries(more).map(([name, schema]) => [name, { ...before[name], ...schema }]))

/** The document as groups of operations, in its own order. */
export function readApi(document) {
  const resolve = createResolve(document)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]) => operationOf(resolve, method.toUpperCase(), path, found)),
  )
  const names = new Set([...(document.tags ?? []).map(({ name }) => name), ...operations.map(({ tag }) => tag)])
  const groups = [...names]
    .map((name) => ({ name, slug: slugOf(name), operations: operations.filter(({ tag }) => tag === name) }))
    .filter((group) => group.operations.length > 0)
  return { title: document.info.title, version: document.info.version, groups, resolve }
}

const slugOf = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

function operationOf(resolve, method, path, found) {
  const tag = found.tags?.[0] ?? 'Other'
  const { summary = '', description = '', operationId: id } = found
  const role = found['x-role'] ?? null
  const door = found['x-door'] ?? null
  const parameters = (found.parameters ?? []).map(resolve)
  const body = resolve(found.requestBody) ?? null
  return {
    id,
    tag,
    method,
    path,
    summary,
    description,
    role,
    door,
    parameters,
    link: `${slugOf(tag)}/${id}`,
    body: body && { isRequired: body.required === true, contents: contentsOf(resolve, body.content) },
    answers: Object.entries(found.responses ?? {}).map(([status, given]) => {
      const answer = resolve(given)
      const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => ({ name, ...resolve(header) }))
      return { status, description: answer.description, headers, contents: contentsOf(resolve, answer.content) }
    }),
    words: [method, path, summary, description, id, tag, role, door].join(' ').toLowerCase(),
  }
}

const contentsOf = (resolve, content = {}) =>
  Object.entries(content).map(([type, { schema = {}, example, examples = {} }]) => {
    const named = Object.entries(examples).map(([name, given]) => {
      const { summary = name, value } = resolve(given)
      return { name: summary, value }
    })
    return { type, schema, examples: example === undefined ? named : [{ name: 'Example', value: example }, ...named] }
  })

/** Whether all words of a search occur in the operation. */
export function fitsSearch(operation, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => operation.words.includes(word))
}

export const isSuccess = (status) => /^[123]/.test(status)
