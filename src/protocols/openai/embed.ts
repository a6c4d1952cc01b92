// POST /v1/embeddings: the embedding with which an agent searches its documents, for everybody who may talk to the agent.

import { modelErrors, ServerError } from '../../domain/errors.ts'
import type { Reply, Request } from '../../http/route.ts'
import { batchesOf, type Embedding } from '../../models/embedding/embedding.ts'
import { runFailure } from '../shared/answer/answer-failure.ts'
import { validBody } from '../shared/request/validate.ts'
import { type EmbeddingList, EmbeddingRequestSchema } from './embedding-schema.ts'

export interface Embeddings {
  /**
   * By the name of an agent or of the embedding; undefined: the one to use where nobody names one. Null: there is none. `onlyAgent`: the
   * one that the caller's token is for.
   */
  of(model: string | undefined, onlyAgent: string | undefined): Embedding | null
}

/** Their vectors are in memory until they are sent. */
const MOST_AT_ONCE = 8

export function createEmbed({ embeddings }: { embeddings: Embeddings }) {
  let open = 0

  return async (request: Request, reply: Reply): Promise<void> => {
    const asked = validBody(EmbeddingRequestSchema, await request.json(), 'The body is not a valid embedding request.')
    const { input, model, encoding_format: format, dimensions } = asked
    const embedding = embeddings.of(model ?? undefined, request.principal.agent)
    if (embedding === null) throw noEmbedding(model)
    reply.note({ embedding: embedding.name })
    if (open >= MOST_AT_ONCE) {
      throw new ServerError('rate_limited', 'Too many texts are being embedded. Try again soon.')
    }
    open += 1
    try {
      const { vectors, tokens } = await embedAll(embedding, [input].flat(), request.signal)
      refuseOther(dimensions, vectors)
      const body: EmbeddingList = {
        object: 'list',
        data: vectors.map((vector, index) => ({
          object: 'embedding',
          index,
          embedding: format === 'base64' ? base64Of(vector) : [...vector],
        })),
        model: embedding.name,
        ...(tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
      }
      await reply.jsonPieces(200, body)
    } finally {
      open -= 1
    }
  }
}

async function embedAll(embedding: Embedding, texts: readonly string[], signal: AbortSignal) {
  const vectors: Float32Array[] = []
  let tokens: number | null = 0
  for (const batch of batchesOf(texts, embedding.most)) {
    const { vectors: some, usage } = await embedding.embed(batch, 'passage', signal).catch(throwShown)
    vectors.push(...some)
    tokens = tokens === null || usage === null ? null : tokens + (usage.inputTokens ?? 0)
  }
  return { vectors, tokens }
}

/** It was tried again already. Only what may pass gets a status after which clients repeat the request. */
function throwShown(error: unknown): never {
  if (!(error instanceof ServerError) || !modelErrors.some((code) => code === error.code)) throw error
  throw runFailure(error, { is_final: error.details.retryable !== true })
}

function refuseOther(dimensions: number | null | undefined, [first]: readonly Float32Array[]): void {
  if (dimensions == null || first === undefined || first.length === dimensions) return
  const detail = `This embedding has ${first.length}. Leave it out, or set embedding.dimensions in the file of the agent.`
  throw new ServerError('invalid_request', 'The embedding has other dimensions.', {
    problems: [{ pointer: '/dimensions', detail }],
  })
}

function noEmbedding(model: string | null | undefined): ServerError {
  const which = model == null ? 'No agent here has an embedding.' : `There is no embedding ${JSON.stringify(model)}.`
  return new ServerError(
    'agent_not_found',
    `${which} Name an agent that has one, or give it one in its file: tools: [{ type: knowledge, name: docs, source: ./docs, embedding: { provider: openai } }]`,
  )
}

/** 32-bit floats, the lowest byte first, as on every machine that Node runs on. */
const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
