// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of the `model` key of agent.yaml.

import { z } from 'zod'
import { modelInputs } from '../../domain/agent.ts'
import { proxyAddress } from '../../domain/proxy-address.ts'
import { duration } from '../source/duration.ts'
import { count, key, text } from '../source/schema-key.ts'
import { providerNames } from './providers.ts'

const modelKeys = {
  provider: key(
    z.enum(providerNames),
    'Who runs the model. `demo` needs no key; `openai` with `base_url` reaches every compatible server; `ai-sdk` takes any `@ai-sdk/*` package.',
    'openai',
  ),
  name: key(
    text().optional(),
    'The model, as its provider calls it (with `azure`, which is also called `azure_openai`: the deployment). `demo` and `scripted` need none.',
    'gpt-5-mini',
  ),
  temperature: key(z.number().min(0).max(2).optional(), 'Randomness of the answers. Default: the provider’s.', 0.7),
  max_tokens: key(count().optional(), 'The longest answer, in tokens. Default: the provider’s.', 2000),
  top_p: key(z.number().min(0).max(1).optional(), 'Nucleus sampling. Default: the provider’s.', 0.9),
  base_url: key(
    z.url({ protocol: /^https?$/ }).optional(),
    'Address of the API, for compatible servers (vLLM, LM Studio, Groq …). With `azure` also read from AZURE_OPENAI_ENDPOINT.',
    'http://127.0.0.1:11434/v1',
    'an http or https URL',
  ),
  endpoint: key(
    z.url({ protocol: /^https?$/ }).optional(),
    'Another word for `base_url`, as Azure says it.',
    'https://my-resource.openai.azure.com',
    'an http or https URL',
  ),
  api_key: key(
    text().optional(),
    'The key, best as `${VARIABLE}`. Default: the provider’s usual variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or GEMINI_API_KEY, AZURE_OPENAI_API_KEY). `none` for a server that needs no key.',
    '${OPENAI_API_KEY}',
  ),
  package: key(
    text().optional(),
    '`ai-sdk` only: the npm package of the provider, installed beside the agent.',
    '@ai-sdk/mistral',
  ),
  script: key(text().optional(), '`scripted` only: the script file, relative to this file.', 'script.yaml'),
  reasoning: key(
    z
      .strictObject({
        effort: key(z.enum(['low', 'medium', 'high']).optional(), 'How hard the model should think.', 'medium'),
        budget_tokens: key(count().optional(), 'Tokens it may think for, where the provider counts them.', 4000),
      })
      .optional(),
    'Thinking before the answer, for models that can.',
    { effort: 'medium' },
  ),
  input: key(
    z.array(z.enum(modelInputs)).optional(),
    'What the model takes as it is; files of other kinds reach it as their text. Default: text, image and pdf with the provider’s own address (`azure`: no pdf); text alone with another `base_url`, `ollama`, `ai-sdk`, `demo` and `scripted`.',
    ['text', 'image'],
  ),
  context_window: key(
    count().default(128_000),
    'Tokens the model takes in one request; older messages are left out beyond it.',
    200_000,
  ),
  retries: key(
    count(0).max(10).default(2),
    'Further attempts after a rate limit, a server error or a lost connection, before the first token.',
    2,
  ),
  proxy: key(
    z.union([z.literal(false), text()]).optional(),
    'The proxy to reach it through, also if it runs on this machine; `none` or `false`: no proxy. Default: HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names its host or it runs on this machine.',
    'http://proxy.example.com:3128',
    'the address of a proxy, or false',
  ),
  tls: key(
    z
      .strictObject({
        cert: key(text().optional(), 'The certificate that we show, a PEM file relative to this file.', 'client.pem'),
        key: key(text().optional(), 'Its key, a PEM file relative to this file.', 'client-key.pem'),
        ca: key(
          text().optional(),
          'Who vouches for the server, a PEM file relative to this file; the usual authorities no longer count then.',
          'ca.pem',
        ),
      })
      .optional(),
    'For servers that ask for a certificate, or have one of a company’s own authority.',
    { cert: 'client.pem', key: 'client-key.pem', ca: 'ca.pem' },
  ),
  connect_timeout: duration({
    description: 'How long to wait for a connection; then it is tried again, or the fallback is asked.',
    example: '5s',
  }).prefault(10),
  first_token_timeout: duration({ description: 'How long to wait for the first token.', example: '90s' }).prefault(120),
  token_timeout: duration({ description: 'How long to wait between two tokens.', example: '30s' }).prefault(60),
  prices: key(
    z
      .strictObject({
        input: key(z.number().min(0), 'Price of a million input tokens.', 0.25),
        output: key(z.number().min(0), 'Price of a million output tokens.', 2),
      })
      .optional(),
    'What the model costs, per million tokens; `limits.cost` needs it.',
    { input: 0.25, output: 2 },
  ),
}

type ModelKeys = z.infer<z.ZodObject<typeof modelKeys>>

function checkModel(model: ModelKeys, context: z.RefinementCtx): void {
  const report = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  const { provider } = model
  if (model.name === undefined && provider !== 'demo' && provider !== 'scripted') {
    report(
      'name',
      `provider ${provider} needs the name of a model. Write e.g. name: ${nameExamples[provider] ?? 'the-model'}`,
    )
  }
  if (model.base_url !== undefined && model.endpoint !== undefined) {
    report('endpoint', 'endpoint means the same as base_url. Keep one of them.')
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
  if (typeof model.proxy === 'string' && proxyAddress(model.proxy) === null) {
    report('proxy', 'this is not an http or https proxy address. Write e.g. proxy: http://proxy.example.com:3128')
  }
  for (const [one, other] of [
    ['cert', 'key'],
    ['key', 'cert'],
  ] as const) {
    if (model.tls?.[one] === undefined || model.tls[other] !== undefined) continue
    context.addIssue({
      code: 'custom',
      path: ['tls', other],
      message: `tls.${one} needs tls.${other} too. Write e.g. ${other}: client${other === 'key' ? '-key' : ''}.pem`,
    })
  }
  if (model.max_tokens !== undefined && model.max_tokens >= model.context_window) {
    report(
      'max_tokens',
      `an answer of ${model.max_tokens} tokens leaves no room for the request in a context window of ${model.context_window}. Lower max_tokens, or raise context_window`,
    )
  }
}

const nameExamples: Partial<Record<ModelKeys['provider'], string>> = {
  openai: 'gpt-5-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  gemini: 'gemini-2.5-flash',
  azure: 'my-deployment',
  azure_openai: 'my-deployment',
  ollama: 'llama3.2',
  'ai-sdk': 'mistral-large-latest',
}

const fallbackModel = z.strictObject(modelKeys).superRefine(checkModel)

/** The `model` of agent.yaml. */
export const model = z
  .strictObject({
    ...modelKeys,
    fallback: key(
      fallbackModel.optional(),
      'A second model, asked when the first one fails before its first token. The same keys, without `fallback`.',
      {
        provider: 'openai',
        name: 'gpt-5-mini',
      },
    ),
  })
  .superRefine(checkModel)

export type ModelYaml = z.infer<typeof fallbackModel> & { fallback?: z.infer<typeof fallbackModel> | undefined }
