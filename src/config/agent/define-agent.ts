// Turns a checked agent.yaml into an AgentDefinition: reads files, finds keys and addresses, converts times to milliseconds.

import { resolve } from 'node:path'
import type { AgentDefinition, ContextMode, HostSettings, ModelInput, ModelSettings } from '../../domain/agent/agent.ts'
import { skillList } from '../../domain/agent/skill.ts'
import type { SearchCase, TestCase, TestCheck } from '../../domain/agent/test-case.ts'
import { present } from '../../domain/present.ts'
import { mostNeeded, type Quorum } from '../../domain/supervision/quorum.ts'
import { formatIssue } from '../config-error.ts'
import { defineSkills } from '../skills/read-skills.ts'
import { readText } from '../source/config-files.ts'
import type { Path } from '../source/json-schema-node.ts'
import { existingFile, existingFolder, type LoadContext, readTextOrFile } from '../source/load-context.ts'
import { defineTools } from '../tools/define-tools.ts'
import type { AgentYaml } from './agent-yaml.ts'
import { defineAccess } from './define-access.ts'
import { type HostYaml, notBesideHost } from './host-yaml.ts'
import { type ModelYaml, model } from './model-yaml.ts'
import { canonicalProvider, isProviderName, type ProviderName } from './providers.ts'
import { readQuestions } from './questions-yaml.ts'
import { defineSchedule } from './schedule-yaml.ts'
import type { TestCaseYaml } from './test-case-yaml.ts'

/** Reports mistakes that the schema cannot find, such as missing files. The result is only valid if nothing was reported. */
export function defineAgent(yaml: AgentYaml, context: LoadContext): AgentDefinition {
  const base = defineBase(yaml, context)
  if (yaml.host === undefined)
    return { ...base, model: defineModel(yaml.model ?? demo, ['model'], context), host: null }
  for (const { path, instead } of notBesideHost) {
    if (context.written(path) !== undefined) context.report(path, `this has no effect beside host. ${instead}.`)
  }
  return { ...base, model: null, host: defineHost(yaml.host, context) }
}

/** A file without a model has been refused by now. */
const demo: ModelYaml = model.parse({ provider: 'demo' })

function defineHost(yaml: HostYaml, context: LoadContext): HostSettings {
  const { name = 'custom', command = null, args, env, writes, unconfined, network } = yaml
  const workspace = existingFolder(yaml.workspace, ['host', 'workspace'], context)
  return { name, command, args, workspace, env, writes, unconfined, network }
}

/** An agent works for hours where a model answers in minutes, unless the file says otherwise. */
const HOSTED_MS = 12 * 60 * 60 * 1_000
const HOSTED_CALLS = 10_000
const HOSTED_CHARS = 20_000_000

function defineBase(yaml: AgentYaml, context: LoadContext) {
  const { directory, defaults } = context
  const tried = yaml.model === undefined ? [] : triedModels(yaml.model, context)
  const instructions =
    yaml.instructions === undefined ? '' : readTextOrFile(yaml.instructions, ['instructions'], context)
  const skills = yaml.host === undefined ? defineSkills(yaml.skills, context) : undefined
  const orHosted = (key: string, value: number, hosted: number): number =>
    yaml.host !== undefined && context.written(['limits', key]) === undefined ? hosted : value
  return {
    name: yaml.name,
    description: yaml.description,
    directory,
    default: yaml.default,
    internal: false,
    instructions: skills === undefined ? instructions : `${instructions.trimEnd()}\n\n${skillList(skills)}`,
    tools: defineTools(yaml.tools, context),
    ...(skills === undefined ? {} : { skills }),
    responseFormat: yaml.response_format ?? null,
    limits: {
      steps: yaml.limits.steps,
      tokens: yaml.limits.tokens ?? null,
      durationMs: orHosted('duration', yaml.limits.duration * 1000, HOSTED_MS),
      cost: yaml.limits.cost ?? null,
      toolCalls: orHosted('tool_calls', yaml.limits.tool_calls, HOSTED_CALLS),
      identicalCalls: yaml.limits.identical_calls,
      parallelCalls: yaml.limits.parallel_calls,
      toolResultChars: yaml.limits.tool_result_chars,
      answerChars: orHosted('answer_chars', yaml.limits.answer_chars, HOSTED_CHARS),
      storedMessageChars: yaml.limits.stored_message_chars,
    },
    context: { maxMessages: yaml.context.max_messages ?? defaults.maxMessages, mode: contextMode(yaml, context) },
    summarizer:
      yaml.context.model === undefined ? null : defineModel(yaml.context.model, ['context', 'model'], context),
    sessions: {
      ttlSeconds: yaml.sessions.ttl ?? defaults.ttlSeconds,
      onExpiry: yaml.sessions.on_expiry,
      retentionDays: yaml.sessions.retention_days ?? defaults.retentionDays,
      onBusy: yaml.sessions.on_busy ?? null,
    },
    approval: {
      default: yaml.approval.default,
      policy: yaml.approval.policy.map((rule) => ({ ...rule, where: rule.where ?? null })),
      by: yaml.approval.by,
      expiresSeconds: yaml.approval.expires,
      ...approvalQuorum(yaml.approval, context),
    },
    testCases: defineTestCases(yaml, context),
    ...(yaml.suggestions.length === 0 ? {} : { suggestions: yaml.suggestions }),
    ...(yaml.schedules.length === 0 ? {} : { schedules: yaml.schedules.map(defineSchedule) }),
    ...(tried.length === 0 ? {} : { tried }),
    ...(yaml.memory ? { memory: true as const } : {}),
    judge: yaml.judge === undefined ? null : defineModel(yaml.judge, ['judge'], context),
  }
}

/** The demo model and scripts say what they always say. */
function contextMode(
  { context: { mode, model: named }, model: own, host }: AgentYaml,
  { report }: LoadContext,
): ContextMode {
  const cannot = host === undefined && named === undefined && ['demo', 'scripted'].includes(own?.provider ?? 'demo')
  if (cannot && mode === 'summarize') {
    report(
      ['context', 'mode'],
      `a ${own?.provider} model makes no summaries. Name another one: context: { model: { provider: openai, name: gpt-5-mini } }`,
    )
  }
  return cannot ? 'window' : (mode ?? 'summarize')
}

/** Left out where one yes is enough. */
function approvalQuorum({ quorum, by }: AgentYaml['approval'], { report }: LoadContext): { quorum?: Quorum } {
  if (quorum === undefined || mostNeeded(quorum) === 1) return {}
  if (by === 'owner' && quorum.high > 1) {
    report(
      ['approval', 'quorum'],
      'with by: owner, the owner of a session may answer alone. Write by: operator, or a quorum for critical calls only: { critical: 2 }',
    )
  }
  return { quorum }
}

function defineModel(yaml: ModelYaml, path: Path, context: LoadContext): ModelSettings {
  const access = defineAccess(yaml, path, context)
  const script = yaml.script === undefined ? undefined : existingFile(yaml.script, [...path, 'script'], context)
  const { reasoning, prices } = yaml
  const input = modelInput(yaml, access.baseUrl)
  return present({
    ...access,
    name: yaml.name ?? yaml.provider,
    temperature: yaml.temperature,
    maxTokens: yaml.max_tokens,
    topP: yaml.top_p,
    script,
    reasoning: reasoning && present({ effort: reasoning.effort, budgetTokens: reasoning.budget_tokens }),
    input: input.length === 0 ? undefined : input,
    contextWindow: yaml.context_window,
    firstTokenTimeoutMs: yaml.first_token_timeout * 1000,
    tokenTimeoutMs: yaml.token_timeout * 1000,
    prices,
    fallback: yaml.fallback && defineModel(yaml.fallback, [...path, 'fallback'], context),
  })
}

/** The models that may be tried in the place of this one. */
function triedModels(own: ModelYaml, context: LoadContext): ModelSettings[] {
  // What a file says about the price or the size of its model is not true of another one.
  const { fallback: _fallback, prices: _prices, context_window: _window, ...kept } = own
  return context.defaults.tryModels.flatMap((named) => {
    const [provider = ''] = named.split('/')
    const name = named.slice(provider.length + 1)
    const isOwn = isProviderName(provider) && canonicalProvider(provider) === canonicalProvider(own.provider)
    if (isOwn && name === (own.name ?? own.provider)) return []
    const read = model.safeParse(isOwn ? { ...kept, name } : { provider, name })
    if (read.success) return [defineModel(read.data, ['model'], context)]
    const why = read.error.issues[0]?.message ?? 'it is not a model'
    context.report(['model'], `${named} under try_models in the settings of the server cannot be tried: ${why}`)
    return []
  })
}

/** Required similarity if a test case has a ground truth and says nothing about how to compare. */
const SIMILARITY = 0.5

function defineTestCases({ test_cases: cases, judge }: AgentYaml, context: LoadContext): TestCase[] {
  return cases.map((test, index) => {
    if (test.knowledge !== undefined) return defineSearchCase(test, test.knowledge, index, context)
    return {
      name: test.name,
      turns: test.turns ?? [test.input ?? ''],
      files: test.files.map((file, at) => {
        const place = test.files.length > 1 ? [at] : []
        return existingFile(file, ['test_cases', index, 'files', ...place], context)
      }),
      tools: test.tools.map((tool) =>
        typeof tool === 'string'
          ? { name: tool, arguments: null }
          : { name: tool.name, arguments: tool.arguments ?? null },
      ),
      onlyTheseTools: test.only_these_tools,
      approvals: test.approvals.map(({ tool, decision, arguments: edited, reason }) => ({
        tool,
        decision,
        arguments: edited ?? null,
        reason: reason ?? null,
      })),
      checks: checksOf(test, judge !== undefined),
      timeoutMs: test.timeout * 1000,
    }
  })
}

/** Required share of questions if a test case with documents does not say. */
const RECALL = 0.9

function defineSearchCase(
  { name, questions: path = '', recall_at_5: recallAt5 = RECALL, mrr, timeout }: TestCaseYaml,
  knowledge: string,
  index: number,
  { directory, files, report }: LoadContext,
): SearchCase {
  const at = ['test_cases', index, 'questions']
  const file = resolve(directory, path)
  const { text, problem } = readText(files, file)
  if (text === null) report(at, `${file}: ${problem}. Paths are relative to this file.`)
  const { questions, issues } = text === null ? { questions: [], issues: [] } : readQuestions(file, text)
  for (const issue of issues) report(at, formatIssue(issue))
  return { name, knowledge, questions, recallAt5, mrr: mrr ?? null, timeoutMs: timeout * 1000 }
}

function checksOf(test: TestCaseYaml, hasJudge: boolean): TestCheck[] {
  const ignoreCase = test.ignore_case
  const checks: TestCheck[] = [
    ...(test.contains ?? []).map((text) => ({ check: 'contains' as const, text, ignoreCase })),
    ...(test.not_contains ?? []).map((text) => ({ check: 'not_contains' as const, text, ignoreCase })),
    ...(test.regex ?? []).map((pattern) => ({ check: 'regex' as const, pattern, flags: ignoreCase ? 'i' : '' })),
  ]
  if (test.json_schema !== undefined) checks.push({ check: 'json_schema', schema: test.json_schema })
  const { ground_truth: truth, similarity, judge: criteria } = test
  if (truth !== undefined && (similarity !== undefined || (criteria === undefined && !hasJudge))) {
    checks.push({ check: 'similarity', truth, atLeast: similarity ?? SIMILARITY })
  }
  // Without criteria, the judge only compares with the ground truth, unless a similarity is set.
  if (criteria !== undefined || (truth !== undefined && similarity === undefined && hasJudge)) {
    checks.push({ check: 'judge', truth: truth ?? null, criteria: criteria ?? '' })
  }
  return checks
}

// The kinds of input that a model accepts directly, if the agent file does not say.

interface Native {
  /** The provider's own hosts. Other servers only speak its protocol. */
  hosts: readonly string[]
  input: readonly ModelInput[]
}

const all = ['text', 'image', 'pdf'] as const

const native: Partial<Record<ProviderName, Native>> = {
  openai: { hosts: ['api.openai.com'], input: all },
  // Azure's chat completions refuse PDF files: "This model does not support file content types."
  azure: {
    hosts: ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'],
    input: ['text', 'image'],
  },
  anthropic: { hosts: ['api.anthropic.com'], input: all },
  google: { hosts: ['generativelanguage.googleapis.com'], input: all },
}

/** Empty: only text. Always in the same order and without duplicates. */
function modelInput(model: Pick<ModelYaml, 'provider' | 'input'>, baseUrl: string | undefined): ModelInput[] {
  const taken = model.input ?? standardInput(model.provider, baseUrl)
  return taken.some((one) => one !== 'text') ? all.filter((one) => one === 'text' || taken.includes(one)) : []
}

function standardInput(provider: ProviderName, baseUrl: string | undefined): readonly ModelInput[] {
  const known = native[canonicalProvider(provider)]
  if (known === undefined) return []
  if (baseUrl === undefined) return known.input
  const host = URL.parse(baseUrl)?.hostname ?? ''
  return known.hosts.some((own) => host === own || host.endsWith(`.${own}`)) ? known.input : []
}
