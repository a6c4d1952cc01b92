// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of a tool of type `knowledge`: documents that the agent searches and cites.

import { z } from 'zod'
import { checkConnection, modelKeys } from '../agent/model-yaml.ts'
import { providers } from '../agent/providers.ts'
import { count, key, oneOrMore, refusing, reporter, text } from '../source/schema-key.ts'
import { description, name, ruleKeys, toolType } from './tool-keys.ts'

const embeddingProviders = ['openai', 'azure', 'azure_openai', 'google', 'gemini', 'ollama', 'ai-sdk', 'demo'] as const

const { base_url, endpoint, api_key, package: packageKey, retries, proxy, tls, connect_timeout } = modelKeys

const embedding = z
  .strictObject({
    provider: key(
      z.enum(embeddingProviders),
      'Who runs the embedding. `openai` with `base_url` works with every compatible server; `demo` needs no key and knows no meaning, only letters.',
      'openai',
      'one of openai, azure, google, ollama, ai-sdk, demo (Anthropic has no embeddings)',
    ),
    name: key(
      text().optional(),
      'The provider’s name for the model; for `azure` the name of the deployment. Default: text-embedding-3-small for `openai`, gemini-embedding-001 for `google`, nomic-embed-text for `ollama`; none with `base_url`.',
      'text-embedding-3-small',
    ),
    base_url,
    endpoint,
    api_key,
    package: packageKey,
    dimensions: key(
      count().max(8192).optional(),
      'Length of the vectors, for models that can shorten them. Default: the model’s own.',
      512,
    ),
    price: key(z.number().min(0).optional(), 'Price per million tokens, to show what an index costs.', 0.02),
    proxy,
    tls,
    connect_timeout: key(connect_timeout, 'How long to wait for a connection.', '5s'),
    retries: key(retries, 'Further attempts after a rate limit, a server error or a lost connection.', 2),
  })
  .superRefine((one, context) => {
    const report = reporter(context)
    const { provider } = one
    // A compatible server has models of its own.
    if (
      one.name === undefined &&
      (providers[provider].embedding === null || (one.base_url ?? one.endpoint) !== undefined)
    ) {
      const example = provider.startsWith('azure') ? 'my-deployment' : 'mistral-embed'
      report('name', `provider ${provider} needs the name of an embedding model here. Write e.g. name: ${example}`)
    }
    if (provider === 'ai-sdk' && one.package === undefined) {
      report('package', 'provider ai-sdk needs the npm package of the provider. Write e.g. package: "@ai-sdk/mistral"')
    }
    if (provider !== 'ai-sdk' && one.package !== undefined) {
      report('package', `provider ${provider} does not use a package. Remove it, or write provider: ai-sdk`)
    }
    checkConnection(one, report)
  })

export type EmbeddingYaml = z.infer<typeof embedding>

const { approval, timeout, risk } = ruleKeys

export const knowledgeTool = refusing(
  z.strictObject({
    type: toolType('knowledge'),
    name,
    description: key(
      description.optional(),
      'When and why to search. The model reads this. Default: a text that names the sources.',
      'The handbook of the company: leave, travel, expenses.',
    ),
    source: key(
      oneOrMore(text()),
      'Folders, files and globs with the documents, relative to this file. Outside of this file’s folder only with the server’s setting `knowledge.folders`.',
      './handbook',
      'a folder, a file or a glob, or several of them',
    ),
    ignore: key(
      oneOrMore(z.string()).optional(),
      'What to leave out, in the words of a `.gitignore`. The `.gitignore` files in the sources count anyway.',
      ['drafts/', '*.bak'],
      'a line as in a .gitignore, or a list of them',
    ),
    embedding: key(
      embedding.optional(),
      'A model that finds passages by their meaning too. It is sent all documents and questions. Default: none, passages are found by their words.',
      { provider: 'openai', name: 'text-embedding-3-small' },
    ),
    approval,
    timeout: key(timeout, 'How long a search may take. Default: 60 seconds.', '60s'),
    risk,
  }),
  {
    effect: 'A search changes nothing, so its effect is always read. Remove this key.',
    retries: 'A search is not repeated. For the embedding, write retries under embedding.',
    parameters: 'The parameters of a search are fixed. Remove this key.',
    returns: 'A search returns passages. Remove this key.',
    predict_state: 'A search sets no state. Remove this key.',
  },
)

export type KnowledgeYaml = z.infer<typeof knowledgeTool>
