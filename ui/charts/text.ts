// Texts of charts.

// plot.tsx
export const inZone = (time: string, zone: string) => `${time} ${zone}`;

// figure.tsx
export const asATable = (title: string) => `${title} as a table`;
export const chart = "Chart";
export const table = "Table";
export const numbers = (title: string) => `${title}, numbers`;
