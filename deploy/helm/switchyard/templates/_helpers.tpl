{{- define "switchyard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "switchyard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "switchyard.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "switchyard.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "switchyard.selectorLabels" -}}
app.kubernetes.io/name: {{ include "switchyard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "switchyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "switchyard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "switchyard.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "switchyard.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "switchyard.secretName" -}}
{{- default (include "switchyard.fullname" .) .Values.secrets.existingSecret -}}
{{- end -}}

{{- define "switchyard.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{/* The names under which the dashboard and /api are reached: the service, the ingress, and those that were given. */}}
{{- define "switchyard.hosts" -}}
{{- $name := include "switchyard.fullname" . -}}
{{- $inNamespace := printf "%s.%s" $name .Release.Namespace -}}
{{- $service := list $name $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) -}}
{{- $ingress := ternary .Values.ingress.hosts (list) .Values.ingress.enabled -}}
{{- concat $service $ingress .Values.allowedHosts | join "," -}}
{{- end -}}

{{/* "true" when there can be more than one pod. */}}
{{- define "switchyard.isScaled" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}true{{- end -}}
{{- end -}}

{{/* What cannot work is refused here, before anything is installed. */}}
{{- define "switchyard.check" -}}
{{- $isSqlite := eq .Values.database "sqlite" -}}
{{- if and $isSqlite (include "switchyard.isScaled" .) -}}
{{- fail "database: sqlite belongs to one process. Set replicaCount: 1 and autoscaling.enabled: false, or database: postgres." -}}
{{- end -}}
{{- if and (not $isSqlite) (not .Values.secrets.existingSecret) (not (hasKey .Values.secrets.values "DATABASE_URL")) -}}
{{- fail "database: postgres needs DATABASE_URL: set secrets.values.DATABASE_URL, or secrets.existingSecret to a Secret that has it. For a trial: --set database=sqlite --set replicaCount=1." -}}
{{- end -}}
{{- if and (not $isSqlite) (not .Values.secrets.existingSecret) (not (get .Values.secrets.values "SWITCHYARD_SECRET")) -}}
{{- fail "database: postgres needs SWITCHYARD_SECRET, the same for every pod: set secrets.values.SWITCHYARD_SECRET (openssl rand -hex 32), or secrets.existingSecret to a Secret that has it." -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.secrets.existingSecret) (not (hasKey .Values.secrets.values "SWITCHYARD_ADMIN_TOKEN")) -}}
{{- fail "serviceMonitor needs the admin token: set secrets.values.SWITCHYARD_ADMIN_TOKEN, or secrets.existingSecret to a Secret that has it." -}}
{{- end -}}
{{- end -}}
