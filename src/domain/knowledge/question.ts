// A question whose answer is known to stand at certain places of documents. It measures a search.

export interface KnowledgeQuestion {
  question: string
  /** Paths as the index has them, or globs. Any of them will do. */
  files: readonly string[]
  /** A part of the path of headings, or of a heading in the passage. Null: any. */
  heading: string | null
  page: number | null
  /** The passage says all of it. */
  contains: readonly string[]
}
