/** How `headgate export` writes answers. */
export const EXPORT_FORMATS = ['text', 'csv', 'jsonl-flat'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
