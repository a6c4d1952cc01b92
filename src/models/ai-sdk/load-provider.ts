// Finds the provider package of the AI SDK that the user installed next to the agent, and makes a language model or an embedding
// model with it.

import { readFile } from 'node:fs/promises'
import { createRequire, findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import type { Under } from '../provider-access.ts'
import { parseObject } from '../wire/json.ts'

/** The part of the provider interface (versions 2, 3 and 4) that we use. Results are checked where they are read. */
export interface LanguageModel {
  specificationVersion: 'v2' | 'v3' | 'v4'
  doStream(options: Record<string, unknown>): PromiseLike<unknown>
}

/** The same part of an embedding model. */
export interface EmbeddingModel {
  provider?: unknown
  maxEmbeddingsPerCall?: unknown
  doEmbed(options: Record<string, unknown>): PromiseLike<unknown>
}

type PackageSettings = Pick<ModelSettings, 'name' | 'package' | 'apiKey' | 'baseUrl'>

export async function loadLanguageModel(
  settings: PackageSettings,
  directory: string,
  ask: typeof fetch,
): Promise<LanguageModel> {
  const provider = await loadProvider(settings, directory, ask, 'model')
  const model = madeBy(provider, ['languageModel'], settings, 'model')
  if (isModel(model, 'doStream')) return model
  throw otherInterface(settings)
}

export async function loadEmbeddingModel(
  settings: PackageSettings,
  directory: string,
  ask: typeof fetch,
): Promise<EmbeddingModel> {
  const provider = await loadProvider(settings, directory, ask, 'embedding')
  // Version 2 calls it by the longer name, and version 4 drops that.
  const model = madeBy(provider, ['embeddingModel', 'textEmbeddingModel'], settings, 'embedding')
  if (isModel(model, 'doEmbed')) return model
  throw otherInterface(settings)
}

async function loadProvider(
  settings: PackageSettings,
  directory: string,
  ask: typeof fetch,
  under: Under,
): Promise<unknown> {
  const { package: name } = settings
  if (name === undefined) {
    throw invalid(
      `provider: ai-sdk needs the npm package of the provider. Write e.g. package: "@ai-sdk/mistral" under ${under}.`,
    )
  }
  if (!/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) {
    throw invalid(
      `${under}.package: ${JSON.stringify(name)} is not the name of an npm package. Write e.g. "@ai-sdk/mistral".`,
    )
  }
  const entry = await resolveEntry(name, directory)
  let exported: unknown
  try {
    exported = await import(pathToFileURL(entry).href)
  } catch (cause) {
    throw invalid(`The package ${name} could not be loaded. Try: cd ${directory} && npm install ${name}@latest`, cause)
  }
  const create = factoryOf(exported, name)
  return create({
    // @ai-sdk/openai-compatible requires a name. Other packages ignore it or use the same one.
    name: shortName(name),
    // Without a key the package reads its own variable, e.g. MISTRAL_API_KEY.
    ...present({ apiKey: settings.apiKey, baseURL: settings.baseUrl }),
    fetch: ask,
  })
}

async function resolveEntry(name: string, directory: string): Promise<string> {
  const from = join(resolve(directory), 'agent.yaml')
  try {
    return createRequire(from).resolve(name)
  } catch (cause) {
    // `require` cannot find a package that exports only for `import`, though it is installed.
    const isThere = isRecord(cause) && cause.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
    const manifest = isThere ? findPackageJSON(name, pathToFileURL(from)) : undefined
    const entry =
      manifest === undefined ? undefined : importEntry(parseObject(await readFile(manifest, 'utf8'))?.exports)
    if (manifest !== undefined && entry !== undefined) return join(dirname(manifest), entry)
    throw invalid(
      `The package ${name} is not installed next to the agent. Run: cd ${directory} && npm install ${name}`,
      cause,
    )
  }
}

/** The file that `import` would load for `.`, by the conditions that apply to us. */
function importEntry(exported: unknown): string | undefined {
  if (typeof exported === 'string') return exported
  if (!isRecord(exported)) return undefined
  if (exported['.'] !== undefined) return importEntry(exported['.'])
  for (const [condition, target] of Object.entries(exported)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue
    const entry = importEntry(target)
    if (entry !== undefined) return entry
  }
  return undefined
}

type Factory = (settings: Record<string, unknown>) => unknown

/** E.g. `createMistral` of `@ai-sdk/mistral`. With several factories, the one named after the package. */
function factoryOf(exported: unknown, name: string): Factory {
  const factories = Object.entries(exported !== null && typeof exported === 'object' ? exported : {})
    .filter((entry): entry is [string, Factory] => /^create[A-Z]/.test(entry[0]) && typeof entry[1] === 'function')
    .sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  const wanted = `create${shortName(name)}`.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()
  const named = factories.find(([key]) => key.toLowerCase().startsWith(wanted))
  const factory = (named ?? factories[0])?.[1]
  if (factory !== undefined) return factory
  throw invalid(
    `The package ${name} exports no provider (a function create…). Is it one of https://ai-sdk.dev/providers?`,
  )
}

const shortName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

/** What the first of these methods makes that the provider has. A provider that is a function makes language models. */
function madeBy(provider: unknown, methods: readonly string[], settings: PackageSettings, under: Under): unknown {
  const { name, package: from } = settings
  const isLike = (typeof provider === 'object' && provider !== null) || typeof provider === 'function'
  if (!isLike) return undefined
  const make = methods.map((one): unknown => Reflect.get(provider, one)).find((one) => typeof one === 'function')
  try {
    if (typeof make === 'function') return Reflect.apply(make, provider, [name])
    if (under === 'model' && typeof provider === 'function') return provider(name)
  } catch (cause) {
    throw invalid(`The package ${from} cannot make the model ${JSON.stringify(name)}. Check ${under}.name.`, cause)
  }
  if (under === 'model') return undefined
  throw invalid(`The package ${from} has no embeddings. Write another provider or package under embedding.`)
}

type Ask = (options: Record<string, unknown>) => PromiseLike<unknown>

function isModel<K extends 'doStream' | 'doEmbed'>(
  model: unknown,
  does: K,
): model is { specificationVersion: 'v2' | 'v3' | 'v4' } & Record<K, Ask> {
  if (typeof model !== 'object' || model === null || !('specificationVersion' in model)) return false
  const { specificationVersion: version } = model
  return (version === 'v2' || version === 'v3' || version === 'v4') && typeof Reflect.get(model, does) === 'function'
}

const otherInterface = ({ package: name }: PackageSettings): ServerError =>
  invalid(
    `The package ${name} does not implement the AI SDK's provider interface in version 2, 3 or 4. Try: npm install ${name}@latest`,
  )

const invalid = (message: string, cause?: unknown): ServerError => new ServerError('config_invalid', message, { cause })
