import { untilAborted } from '../../domain/abort.ts'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Logger } from '../../domain/logger.ts'
import { dropped, targetOf } from '../failure.ts'
import { type Model, type ModelPart, type ModelRequest, streamOf } from '../model.ts'
import { baseUrl } from '../wire/base-url.ts'
import { createPartDecoder } from './decode.ts'
import { providerFailure } from './failure.ts'
import { loadLanguageModel } from './load-provider.ts'
import { callOptions, metadataSignature } from './request.ts'

/** Uses any provider package of the AI SDK through its provider interface. The package `ai` itself is not needed. */
export async function createAiSdkModel(
  settings: ModelSettings,
  deps: { directory: string; now: () => number; log: Logger; fetch: typeof fetch },
): Promise<Model> {
  const model = await loadLanguageModel(settings, deps.directory, deps.fetch)
  const host = settings.baseUrl === undefined ? `the provider of ${settings.package}` : baseUrl(settings, '').host
  const named = targetOf(settings, host, 'the variable of its key', 'model')
  const target = { ...named, provider: settings.package ?? settings.provider }

  async function* parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    if (signal.aborted) return
    const decoder = createPartDecoder(target, (metadata) => metadataSignature(metadata, settings), deps.now)
    let reader: ReadableStreamDefaultReader<unknown> | null = null
    // The signal asks the package to stop. Cancelling ends packages that ignore the signal.
    const cancel = () => void reader?.cancel().catch(() => {})
    signal.addEventListener('abort', cancel)
    try {
      const options = callOptions(request, settings, model.specificationVersion)
      const result = await untilAborted(model.doStream({ ...options, abortSignal: signal }), signal)
      if (!isRecord(result) || !(result.stream instanceof ReadableStream)) throw dropped(target)
      reader = result.stream.getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (signal.aborted) return
        if (done) break
        const decoded: ModelPart[] = []
        decoder.decode(value, decoded)
        if (decoded.length > 0) yield decoded
      }
      decoder.end()
    } catch (error) {
      if (signal.aborted) return
      const failure = providerFailure(error, target, deps.now())
      if (failure.cause === error && error instanceof Error) {
        deps.log.error('provider package failed', { package: settings.package, error: error.stack })
      }
      throw failure
    } finally {
      signal.removeEventListener('abort', cancel)
      cancel()
    }
  }

  return {
    provider: settings.provider,
    name: settings.name,
    stream: streamOf(parts),
    // The interface has no request that costs nothing. That the package made a model is all we can know.
    check: () => Promise.resolve(),
  }
}
