import type { FileType } from '../../domain/file.ts'

/** What a file is called that came without a name: what a person would call it, and what its content says it is. */
export const nameByType: Readonly<Record<FileType, string>> = {
  'image/png': 'image.png',
  'image/jpeg': 'image.jpg',
  'image/gif': 'image.gif',
  'image/webp': 'image.webp',
  'application/pdf': 'document.pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'document.docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'workbook.xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'presentation.pptx',
  'text/plain': 'text.txt',
  'text/csv': 'table.csv',
  'text/markdown': 'text.md',
}
