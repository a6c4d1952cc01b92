// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of the key `model` in agent.yaml.

import { z } from 'zod'
import { modelInputs } from '../../domain/agent/agent.ts'
import { proxyAddress } from '../../domain/settings/proxy-address.ts'
import { count, duration, httpUrlKey, key, type Report, reporter, text } from '../source/schema-key.ts'
import { providerNames, providers } from './providers.ts'

const pemFile = (what: string, example: string) =>
  key(text().optional(), `${what}: a PEM file, relative to this file.`, example)

export const modelKeys = {
  provider: key(
    z.enum(providerNames),
    'Who runs the model. `demo` needs no key; `openai` with `base_url` works with every compatible server; `ai-sdk` works with any `@ai-sdk/*` package.',
    'openai',
  ),
  name: key(
    text().optional(),
    'The provider’s name for the model; for `azure` (also `azure_openai`) the name of the deployment. `demo` and `scripted` need no name.',
    'gpt-5-mini',
  ),
  temperature: key(z.number().min(0).max(2).optional(), 'How random the answers are. Default: the provider’s.', 0.7),
  max_tokens: key(count().optional(), 'The longest answer, in tokens. Default: the provider’s.', 2000),
  top_p: key(z.number().min(0).max(1).optional(), 'Nucleus sampling. Default: the provider’s.', 0.9),
  base_url: httpUrlKey(
    'Address of the API, for compatible servers (vLLM, LM Studio, Groq …). For `azure` the default is AZURE_OPENAI_ENDPOINT.',
    'http://127.0.0.1:11434/v1',
  ),
  endpoint: httpUrlKey('Azure’s word for `base_url`; it means the same.', 'https://my-resource.openai.azure.com'),
  api_key: key(
    text().optional(),
    'API key, best written as `${VARIABLE}`. Default: the provider’s usual variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or GEMINI_API_KEY, AZURE_OPENAI_API_KEY). Write `none` for a server that needs no key.',
    '${OPENAI_API_KEY}',
  ),
  package: key(
    text().optional(),
    'Only for `ai-sdk`: the provider’s npm package, installed next to the agent file.',
    '@ai-sdk/mistral',
  ),
  script: key(text().optional(), 'Only for `scripted`: the script file, relative to this file.', 'script.yaml'),
  reasoning: key(
    z
      .strictObject({
        effort: key(z.enum(['low', 'medium', 'high']).optional(), 'How hard the model should think.', 'medium'),
        budget_tokens: key(
          count().optional(),
          'Tokens the model may spend on reasoning, if the provider supports a budget.',
          4000,
        ),
      })
      .optional(),
    'Reasoning before the answer, for models that support it.',
    { effort: 'medium' },
  ),
  input: key(
    z.array(z.enum(modelInputs)).optional(),
    'Kinds of input that the model takes directly; other files are sent as text. Default: text, image and pdf (`azure`: no pdf); only text with another `base_url` and for `ollama`, `ai-sdk`, `demo` and `scripted`.',
    ['text', 'image'],
  ),
  context_window: key(
    count().default(128_000),
    'Tokens that fit in one request to the model. Older messages are left out if there are more.',
    200_000,
  ),
  retries: key(
    count(0).max(10).default(2),
    'Further attempts after a rate limit, a server error or a lost connection, as long as no token has arrived.',
    2,
  ),
  proxy: key(
    z.union([z.literal(false), text()]).optional(),
    'Proxy for requests to the model; `none` or `false` = no proxy. Default: HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names the host or the model runs on this machine.',
    'http://proxy.example.com:3128',
    'the address of a proxy, or false',
  ),
  tls: key(
    z
      .strictObject({
        cert: pemFile('Client certificate', 'client.pem'),
        key: pemFile('Key of the client certificate', 'client-key.pem'),
        ca: pemFile('Certificate authorities to trust instead of the usual ones', 'ca.pem'),
      })
      .optional(),
    'For servers that require a client certificate, or whose certificate comes from a company’s own authority.',
    { cert: 'client.pem', key: 'client-key.pem', ca: 'ca.pem' },
  ),
  connect_timeout: duration(
    'How long to wait for a connection. After that, the server retries or uses the fallback.',
    '5s',
  ).prefault(10),
  first_token_timeout: duration('How long to wait for the first token.', '90s').prefault(120),
  token_timeout: duration('How long to wait between two tokens.', '30s').prefault(60),
  prices: key(
    z
      .strictObject({
        input: key(z.number().min(0), 'Price per million input tokens.', 0.25),
        output: key(z.number().min(0), 'Price per million output tokens.', 2),
      })
      .optional(),
    'Price of the model per million tokens. `limits.cost` needs it.',
    { input: 0.25, output: 2 },
  ),
}

type ModelKeys = z.infer<z.ZodObject<typeof modelKeys>>

/** What models and embeddings have in common. */
export function checkConnection(
  model: Pick<ModelKeys, 'proxy' | 'tls' | 'base_url' | 'endpoint'>,
  report: Report,
): void {
  if (model.base_url !== undefined && model.endpoint !== undefined) {
    report('endpoint', 'endpoint means the same as base_url. Keep one of them.')
  }
  if (typeof model.proxy === 'string' && proxyAddress(model.proxy) === null) {
    report('proxy', 'this is not an http or https proxy address. Write e.g. proxy: http://proxy.example.com:3128')
  }
  for (const [one, other] of [
    ['cert', 'key'],
    ['key', 'cert'],
  ] as const) {
    if (model.tls?.[one] === undefined || model.tls[other] !== undefined) continue
    const example = `${other}: client${other === 'key' ? '-key' : ''}.pem`
    report(['tls', other], `tls.${one} needs tls.${other} too. Write e.g. ${example}`)
  }
}

function checkModel(model: ModelKeys, context: z.RefinementCtx): void {
  const report = reporter(context)
  const { provider } = model
  if (model.name === undefined && provider !== 'demo' && provider !== 'scripted') {
    report('name', `provider ${provider} needs the name of a model. Write e.g. name: ${providers[provider].model}`)
  }
  if (provider === 'ai-sdk' && model.package === undefined) {
    report('package', 'provider ai-sdk needs the npm package of the provider. Write e.g. package: "@ai-sdk/mistral"')
  }
  if (provider !== 'ai-sdk' && model.package !== undefined) {
    report('package', `provider ${provider} does not use a package. Remove it, or write provider: ai-sdk`)
  }
  if (provider === 'scripted' && model.script === undefined) {
    report('script', 'provider scripted needs a script file. Write e.g. script: script.yaml')
  }
  if (provider !== 'scripted' && model.script !== undefined) {
    report('script', `provider ${provider} does not use a script. Remove it, or write provider: scripted`)
  }
  checkConnection(model, report)
  if (model.max_tokens !== undefined && model.max_tokens >= model.context_window) {
    report(
      'max_tokens',
      `an answer of ${model.max_tokens} tokens leaves no room for the request in a context window of ${model.context_window}. Lower max_tokens, or raise context_window`,
    )
  }
}

const fallbackModel = z.strictObject(modelKeys).superRefine(checkModel)

/** The `model` of agent.yaml. */
export const model = z
  .strictObject({
    ...modelKeys,
    fallback: key(
      fallbackModel.optional(),
      'A second model, used if the first one fails before its first token; the same keys, except `fallback`.',
      {
        provider: 'openai',
        name: 'gpt-5-mini',
      },
    ),
  })
  .superRefine(checkModel)

export type ModelYaml = z.infer<typeof fallbackModel> & { fallback?: z.infer<typeof fallbackModel> | undefined }
