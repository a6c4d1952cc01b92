// What would come of an edit, before anybody decides: whether it is allowed, what would run, how dangerous that is, and what is new in it.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval, ChangeSummary } from '../../domain/records/record.ts'
import { maskEntries } from '../../domain/text/secret-name.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { canonicalJson } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AskAgain } from './ask-again.ts'
import { argumentsOf, revealedText, type ShownCall, shownCall } from './shown-call.ts'

/** Arguments in place of the agent's, or the whole file as it should be. */
export interface Edit {
  arguments?: Record<string, unknown>
  content?: string
}

export interface EditCheck {
  /** Sentences. None: it can be approved like this. */
  problems: string[]
  risk: Risk
  /** What would run. */
  shown: ShownCall
  /** The arguments that differ, with secrets masked and marks. Null: there is none of this name. */
  changes: { name: string; before: string | null; after: string | null }[]
  /** What the tool itself shows. */
  preview: string | null
  /** Of a file: `diff` is against the file, `difference` against what the agent proposed. Both without marks. */
  change: (ChangeSummary & { digest: string; diff: string; difference: string }) | null
}

export async function checkOwnEdit(
  askAgain: Pick<AskAgain, 'findTool' | 'aboutArguments'>,
  approval: Approval,
  { arguments: edited, content }: Edit,
  { at, signal }: { at: number; signal: AbortSignal },
): Promise<EditCheck> {
  if (approval.kind === 'question')
    return withProblems(approval, ['This is a question of a tool. Answer it with `respond`.'])
  if (content !== undefined)
    return withProblems(approval, ['Only a change by an agent elsewhere can be edited as a file.'])
  if (edited === undefined) return noProblem(approval)
  const tool = await askAgain.findTool(approval, signal)
  const asEdited = edit(approval, edited)
  if (tool === null) {
    const problem = `The tool ${visibleText(approval.tool)} is not available now, so its arguments cannot be edited.`
    return checkedCall(approval, asEdited, [problem])
  }
  const checked = jsonCheckOf(tool.parameters).check(edited)
  if (!checked.ok) return checkedCall(approval, asEdited, checked.problems)
  const args = { ...Object(checked.value) }
  const asked = await askAgain.aboutArguments(approval, args, at, signal)
  return {
    ...checkedCall(approval, { editedArguments: JSON.stringify(args), risk: asked?.risk ?? approval.risk }),
    preview: asked?.preview ?? null,
  }
}

const edit = ({ risk }: Approval, edited: Record<string, unknown>): Pick<Approval, 'editedArguments' | 'risk'> => ({
  editedArguments: JSON.stringify(edited),
  risk: hidesCharacters(edited) ? 'critical' : risk,
})

/** The approval as it would be with these values. */
export function checkedCall(approval: Approval, edits: Partial<Approval>, problems: readonly string[] = []): EditCheck {
  const edited = { ...approval, ...edits }
  return {
    ...noProblem(edited),
    problems: [...problems],
    changes: changesBetween(argumentsOf(approval), argumentsOf(edited)),
  }
}

export const noProblem = (approval: Approval): EditCheck => ({
  problems: [],
  risk: approval.risk,
  shown: shownCall(approval),
  changes: [],
  preview: approval.preview ?? null,
  change: null,
})

const withProblems = (approval: Approval, problems: string[]): EditCheck => ({ ...noProblem(approval), problems })

/** What an edit is refused with becomes a problem of it. */
export async function problemsOf(approval: Approval, check: () => EditCheck | Promise<EditCheck>): Promise<EditCheck> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ServerError) || !OF_AN_EDIT.has(error.code)) throw error
    return withProblems(approval, [error.message])
  }
}

const OF_AN_EDIT: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_diff',
  'path_violation',
  'patch_conflict',
  'file_too_large',
])

function changesBetween(before: Record<string, unknown>, after: Record<string, unknown>): EditCheck['changes'] {
  const [old, now] = [maskEntries(before), maskEntries(after)]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const textOf = (args: Record<string, unknown>, name: string) =>
    Object.hasOwn(args, name) ? revealedText(args[name]) : null
  const lookOf = (args: Record<string, unknown>, name: string) =>
    Object.hasOwn(args, name) ? canonicalJson(args[name]) : null
  return names
    .filter((name) => lookOf(before, name) !== lookOf(after, name))
    .map((name) => ({ name: visibleText(name), before: textOf(old, name), after: textOf(now, name) }))
}
