// Embeddings over HTTP: a provider says what a request and an answer look like.

import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { modelFailure, reportedFailure, targetOf } from '../failure.ts'
import { HttpContentError } from '../wire/http-errors.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'
import type { HttpRequest, ModelHttp } from '../wire/model-http.ts'
import { wireFailure } from '../wire/wire-model.ts'
import type { Embedding } from './embedding.ts'
import type { EmbeddingAnswer, EmbeddingSource } from './resilient-embedding.ts'

export interface EmbeddingApi extends Pick<Embedding, 'most'> {
  /** Host and port, as errors name them. */
  host: string
  /** The environment variable, or variables, for the key. */
  keyVariable: string
  url: URL
  headers: Readonly<Record<string, string>>
  body(texts: readonly string[], purpose: 'passage' | 'query'): JsonObject
  /** Null: the answer has no embeddings. */
  read(answer: JsonObject): EmbeddingAnswer | null
}

export function createWireEmbedding(
  settings: EmbeddingSettings,
  api: EmbeddingApi,
  { http, now }: { http: ModelHttp; now(): number },
): EmbeddingSource {
  const { host, most, url, headers } = api
  const target = targetOf(settings, host, api.keyVariable, 'embedding')
  http.checkProxy(url)

  const notEmbeddings = () =>
    modelFailure(
      'model_bad_request',
      `The server at ${host} did not answer with embeddings. Check that base_url is the address of an API that has them (most end in /v1), and that ${settings.name} is a model that makes them.`,
      target,
      { retryable: false },
    )

  return {
    provider: settings.provider,
    name: settings.name,
    host,
    most,
    async ask(texts, purpose, signal) {
      const request: HttpRequest = { url, headers, body: api.body(texts, purpose) }
      const { body } = await http.post(request, signal).catch((error: unknown) => {
        throw error instanceof HttpContentError ? notEmbeddings() : wireFailure(error, target, now())
      })
      const answer = parseObject(body)
      const read = answer === null ? null : api.read(answer)
      if (read !== null) return read
      throw answer?.error === undefined ? notEmbeddings() : reportedFailure(answer.error, target)
    },
  }
}
