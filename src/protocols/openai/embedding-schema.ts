// The schemas of POST /v1/embeddings.

import { z } from 'zod'

/** As many as OpenAI takes. */
const MOST_TEXTS = 2_048

const ItemSchema = z
  .string('Send text: tokens belong to one model alone. (In LangChain: check_embedding_ctx_length=False.)')
  .min(1, 'Send a text that is not empty.')

const HOW_MANY = `Send a text, or a list of 1 to ${MOST_TEXTS} texts.`

const InputSchema = z.union(
  [z.string().min(1, 'Send a text that is not empty.'), z.array(ItemSchema).min(1, HOW_MANY).max(MOST_TEXTS, HOW_MANY)],
  { error: HOW_MANY },
)

export const EmbeddingRequestSchema = z.object({
  model: z
    .string()
    .nullish()
    .describe(
      'Name of an agent that has an embedding, or the name of the embedding itself. Default: that of the default agent.',
    ),
  input: InputSchema,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe('Only the number that the embedding has; the file of the agent sets it.'),
  user: z.string().nullish(),
})

export const EmbeddingListSchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string().describe('32-bit floats in base64.')]),
    }),
  ),
  model: z.string().describe('The name of the embedding.'),
  usage: z
    .object({ prompt_tokens: z.int(), total_tokens: z.int() })
    .optional()
    .describe('Absent if the provider did not report its tokens.'),
})
export type EmbeddingList = z.infer<typeof EmbeddingListSchema>
